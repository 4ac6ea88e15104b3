// The search of the site: a section is found if it has all words. SECTIONS stands above: [page, anchor, title of page, title, text].
(function () {
  var form = document.getElementById("search"), input = form.querySelector("input");
  var results = document.getElementById("results"), found = document.getElementById("found");
  var article = document.querySelector("article");
  form.hidden = false;
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  function show() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.hidden = words.length === 0;
    article.hidden = words.length !== 0;
    found.textContent = "";
    if (words.length === 0) return;
    var rows = [];
    SECTIONS.forEach(function (section) {
      var title = (section[2] + " " + section[3]).toLowerCase(), text = section[4].toLowerCase(), weight = 0;
      for (var i = 0; i < words.length; i++) {
        if (title.indexOf(words[i]) >= 0) weight += 10;
        else if (text.indexOf(words[i]) >= 0) weight += 1;
        else return;
      }
      rows.push([weight, section]);
    });
    rows.sort(function (one, other) { return other[0] - one[0]; });
    rows.slice(0, 60).forEach(function (row) {
      var section = row[1], item = document.createElement("li"), link = document.createElement("a");
      link.href = UP + section[0] + (section[1] ? "#" + section[1] : "");
      link.textContent = section[3] === section[2] ? section[2] : section[2] + ": " + section[3];
      link.addEventListener("click", function () { input.value = ""; show(); });
      var at = section[4].toLowerCase().indexOf(words[0]);
      var excerpt = document.createElement("div");
      excerpt.className = "faint";
      excerpt.textContent = section[4].substring(Math.max(0, at - 60), at + 140);
      item.append(link, excerpt);
      found.append(item);
    });
    if (rows.length === 0) found.textContent = "Nothing has all of these words.";
  }
  input.addEventListener("input", show);
  var asked = new URLSearchParams(location.search).get("q");
  if (asked) { input.value = asked; show(); }
})();
