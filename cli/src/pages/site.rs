//! The pages of the repository as a site: files that a browser opens from a folder, with a list of all pages beside each one, and a
//! search that needs no server.
//!
//! Links between pages become links between files. One to a file that is no page (a source) keeps its words and leads nowhere; one to
//! what does not exist is told.

use super::{environment, render};
use crate::outcome::Failure;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A page's source.
pub(crate) struct Document {
    /// Where it stands in the repository.
    pub(crate) path: String,
    /// The part of the site that lists it.
    pub(crate) part: &'static str,
    /// Markdown.
    pub(crate) text: String,
}

/// A link that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    page: String,
    link: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.page, self.link)
    }
}

/// A stretch of a page below a heading.
struct Section {
    anchor: String,
    title: String,
    text: String,
}

/// A page as HTML, and what the search and other pages need of it.
struct Made {
    title: String,
    body: String,
    sections: Vec<Section>,
    /// Links to anchors of pages: page, anchor, as written.
    anchors: Vec<(String, String, String)>,
}

/// The site's files, by path, and the links of pages that lead nowhere. `exists` says whether the repository has a path.
pub(crate) fn site(
    documents: &[Document],
    exists: impl Fn(&str) -> bool,
) -> Result<(BTreeMap<String, String>, Vec<Lost>), Failure> {
    let pages: BTreeSet<&str> = documents.iter().map(|it| it.path.as_str()).collect();
    let mut lost = vec![];
    let made: Vec<Made> = documents
        .iter()
        .map(|document| make(document, &pages, &exists, &mut lost))
        .collect();
    let known: BTreeSet<(&str, &str)> = documents
        .iter()
        .zip(&made)
        .flat_map(|(document, made)| {
            let anchors = made.sections.iter().map(|section| section.anchor.as_str());
            anchors.map(|anchor| (document.path.as_str(), anchor))
        })
        .collect();
    for (document, made) in documents.iter().zip(&made) {
        for (page, anchor, link) in &made.anchors {
            if !known.contains(&(page.as_str(), anchor.as_str())) {
                lost.push(Lost {
                    page: document.path.clone(),
                    link: link.clone(),
                });
            }
        }
    }
    let environment = environment().map_err(Failure::refused)?;
    let mut files = BTreeMap::new();
    for (document, page) in documents.iter().zip(&made) {
        let file = file_of(&document.path);
        let value = json!({
            "title": page.title,
            "up": "../".repeat(file.matches('/').count()),
            "body": page.body,
            "parts": parts(documents, &made, document),
        });
        files.insert(file, render(&environment, "document.html", value)?);
    }
    files.insert("search.js".to_owned(), search(documents, &made));
    Ok((files, lost))
}

/// The file of a page: a folder's README is its index.
fn file_of(path: &str) -> String {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let stem = stem.strip_prefix("docs/").unwrap_or(stem);
    match stem.strip_suffix("README") {
        Some(folder) => format!("{folder}index.html"),
        None => format!("{stem}.html"),
    }
}

/// The list of pages, as the one at `here` shows it.
fn parts(documents: &[Document], made: &[Made], here: &Document) -> Vec<Value> {
    let mut parts: Vec<(&str, bool, Vec<Value>)> = vec![];
    let up = "../".repeat(file_of(&here.path).matches('/').count());
    for (document, page) in documents.iter().zip(made) {
        if parts.last().is_none_or(|(name, ..)| *name != document.part) {
            parts.push((document.part, document.part == here.part, vec![]));
        }
        let href = format!("{up}{}", file_of(&document.path));
        let link = json!({ "title": page.title, "href": href, "here": document.path == here.path });
        if let Some((_, _, pages)) = parts.last_mut() {
            pages.push(link);
        }
    }
    let part = |(name, here, pages): (&str, bool, Vec<Value>)| json!({ "name": name, "here": here, "pages": pages });
    parts.into_iter().map(part).collect()
}

/// What the search looks through, and the search.
fn search(documents: &[Document], made: &[Made]) -> String {
    let sections = documents.iter().zip(made).flat_map(|(document, page)| {
        let file = file_of(&document.path);
        let row = move |section: &Section| {
            json!([
                file,
                section.anchor,
                page.title,
                section.title,
                section.text
            ])
        };
        page.sections.iter().map(row)
    });
    let sections: Vec<Value> = sections.collect();
    format!(
        "var SECTIONS = {};\n{}",
        json!(sections),
        include_str!("templates/search.js")
    )
}

fn make(
    document: &Document,
    pages: &BTreeSet<&str>,
    exists: &impl Fn(&str) -> bool,
    lost: &mut Vec<Lost>,
) -> Made {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> = Parser::new_ext(&document.text, options).collect();
    let titles = headings(&events);
    let mut made = Made {
        title: titles
            .first()
            .map_or(document.path.clone(), |(title, _)| title.clone()),
        body: String::new(),
        sections: vec![],
        anchors: vec![],
    };
    let mut titles = titles.into_iter();
    // Whether the link that is open leads nowhere: links do not nest.
    let mut dropped = false;
    for event in &mut events {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                if let Some((title, anchor)) = titles.next() {
                    *id = Some(CowStr::from(anchor.clone()));
                    let text = String::new();
                    made.sections.push(Section {
                        anchor,
                        title,
                        text,
                    });
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                match link(document, dest_url, pages, exists) {
                    Target::Elsewhere => {}
                    Target::Page { href, anchor } => {
                        made.anchors.extend(
                            anchor.map(|(page, anchor)| (page, anchor, dest_url.to_string())),
                        );
                        *dest_url = CowStr::from(href);
                    }
                    target @ (Target::Source | Target::Nothing) => {
                        if matches!(target, Target::Nothing) {
                            let page = document.path.clone();
                            lost.push(Lost {
                                page,
                                link: dest_url.to_string(),
                            });
                        }
                        dropped = true;
                        *event = Event::InlineHtml(CowStr::from("<span>"));
                    }
                }
            }
            Event::End(TagEnd::Link) if dropped => {
                dropped = false;
                *event = Event::InlineHtml(CowStr::from("</span>"));
            }
            // What is written as HTML in a page is text: pages hold none.
            Event::Html(text) | Event::InlineHtml(text) => {
                let text = text.clone();
                *event = Event::Text(text);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(section) = made.sections.last_mut() {
                    section.text.push_str(text);
                    section.text.push(' ');
                }
            }
            _ => {}
        }
    }
    html::push_html(&mut made.body, events.into_iter());
    made
}

/// The titles of a page's headings, and the anchors that code hosts give them.
fn headings(events: &[Event<'_>]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![];
    let mut open: Option<String> = None;
    for event in events {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { .. }), _) => {
                open = Some(String::new());
            }
            (Event::Text(text) | Event::Code(text), Some(title)) => title.push_str(text),
            (Event::End(TagEnd::Heading(_)), Some(title)) => {
                let slug = slug(title);
                let before = all
                    .iter()
                    .filter(|(other, _)| self::slug(other) == slug)
                    .count();
                let anchor = match before {
                    0 => slug,
                    before => format!("{slug}-{before}"),
                };
                all.push((std::mem::take(title), anchor));
                open = None;
            }
            _ => {}
        }
    }
    all
}

/// The anchor of a title: lower case, hyphens for spaces, no other punctuation.
fn slug(title: &str) -> String {
    let letters = title.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// Where a link of a page leads.
enum Target {
    /// Out of the repository.
    Elsewhere,
    /// To a page, and the anchor there.
    Page {
        href: String,
        anchor: Option<(String, String)>,
    },
    /// To a file of the repository that is no page.
    Source,
    Nothing,
}

fn link(
    document: &Document,
    url: &str,
    pages: &BTreeSet<&str>,
    exists: &impl Fn(&str) -> bool,
) -> Target {
    if url.contains("://") || url.starts_with("mailto:") {
        return Target::Elsewhere;
    }
    let (path, anchor) = url
        .split_once('#')
        .map_or((url, None), |(path, anchor)| (path, Some(anchor)));
    let Some(to) = resolve(&document.path, path) else {
        return Target::Nothing;
    };
    // A folder is its README.
    let index = format!("{}/README.md", to.trim_end_matches('/'));
    let page = [to.as_str(), index.as_str()]
        .into_iter()
        .find(|path| pages.contains(path));
    let Some(page) = page else {
        return match exists(&to) {
            true => Target::Source,
            false => Target::Nothing,
        };
    };
    let up = "../".repeat(file_of(&document.path).matches('/').count());
    let behind = anchor.map_or(String::new(), |anchor| format!("#{anchor}"));
    Target::Page {
        href: format!("{up}{}{behind}", file_of(page)),
        anchor: anchor.map(|anchor| (page.to_owned(), anchor.to_owned())),
    }
}

/// The path that a link of a page means, from the repository's root on; `None` if it leads out of it.
fn resolve(page: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(path: &str, text: &str) -> Document {
        Document {
            path: path.to_owned(),
            part: "Part",
            text: text.to_owned(),
        }
    }

    #[test]
    fn links_between_pages_lead_to_their_files_and_what_leads_nowhere_is_told() {
        let documents = [
            document(
                "README.md",
                "# Top\n\n[a](docs/boards/a.md#power-on) [b](docs/b.md) [c](docs/b.md#none) [d](src/lib.rs)\n",
            ),
            document(
                "docs/b.md",
                "# B\n\n[a](boards/a.md) [top](../README.md) [out](https://example.org/) [gone](gone.md)\n",
            ),
            document(
                "docs/boards/a.md",
                "# A & co\n\n## Power on\n\n[b](../b.md) [here](#power-on)\n",
            ),
        ];
        let (files, lost) = site(&documents, |path| path == "src/lib.rs")
            .unwrap_or_else(|failure| panic!("{failure}"));
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["b.html", "boards/a.html", "index.html", "search.js"]
        );
        let has = |file: &str, text: &str| {
            assert!(files[file].contains(text), "{text} in {}", files[file])
        };
        has("index.html", "<a href=\"boards/a.html#power-on\">a</a>");
        has("index.html", "<span>d</span>");
        has("b.html", "<a href=\"index.html\">top</a>");
        has("b.html", "<a href=\"https://example.org/\">out</a>");
        has("boards/a.html", "<a href=\"../b.html\">b</a>");
        has("boards/a.html", "<h2 id=\"power-on\">Power on</h2>");
        has("boards/a.html", "<title>A &amp; co</title>");
        has(
            "search.js",
            "[\"boards/a.html\",\"power-on\",\"A & co\",\"Power on\"",
        );
        let lost: Vec<String> = lost.iter().map(Lost::to_string).collect();
        assert_eq!(lost, ["docs/b.md: gone.md", "README.md: docs/b.md#none"]);
    }

    #[test]
    fn headings_of_one_title_have_anchors_of_their_own() {
        let text = "# A\n## Not `this`!\n## Not this\n";
        let events: Vec<Event<'_>> = Parser::new(text).collect();
        let anchors: Vec<String> = headings(&events)
            .into_iter()
            .map(|(_, anchor)| anchor)
            .collect();
        assert_eq!(anchors, ["a", "not-this", "not-this-1"]);
    }
}
