// What comes from one line is shown together: code and representation that belong to each other, else all that one source line became.
document.querySelectorAll("tr[data-line], tr[data-ir]").forEach(function (row) {
  var all = function () {
    var line = row.dataset.line, ir = row.dataset.ir;
    var found = ir ? ['tr[data-ir="' + ir + '"]'].concat(line ? ['tr[id="' + line + '"]'] : []) : ['tr[data-line="' + line + '"]'];
    return document.querySelectorAll(found.join(", "));
  };
  row.addEventListener("mouseenter", function () { all().forEach(function (it) { it.classList.add("near"); }); });
  row.addEventListener("mouseleave", function () { all().forEach(function (it) { it.classList.remove("near"); }); });
});
