"""What mkdocs.yml asks of mkdocs beyond its options: the documents of the whole project, at their places.

The site has the folders of the project, so that a link leads to the same file here and there. A file that is no
document, such as a test, becomes a page with its text, a folder one with the names in it.
"""

import glob
import os
import re

import markdown_it
from mkdocs.structure.files import File, Files

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = ("build", "dist", "node_modules", "__pycache__")
PICTURES = (".svg", ".png", ".gif", ".jpg")
LANGUAGES = {".py": "python", ".h": "c", ".c": "c", ".go": "go", ".rs": "rust", ".yml": "yaml", ".yaml": "yaml"}
LANGUAGES.update({".json": "json", ".ini": "ini", ".txt": "text", ".csv": "text"})
PAGE = "---\nsearch:\n  exclude: true\n---\n# %s\n\n%s%s\n%s\n%s\n"


def documents():
    """Paths of all Markdown files, from the top folder (list)."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".md")]
    return [os.path.relpath(path, ROOT).replace(os.sep, "/") for path in found]


def targets(document):
    """What the links and pictures of a document lead to within the project: paths from the top folder (set)."""
    with open(os.path.join(ROOT, document), encoding="utf-8") as stream:
        text = stream.read()
    found = set(re.findall(r"<(?:img|source|a)\b[^>]*?\b(?:src|srcset|href)=[\"']([^\"']+)", text))
    for token in markdown_it.MarkdownIt().enable("table").parse(text):
        for child in token.children or []:
            found.update(filter(None, [child.attrGet("href"), child.attrGet("src")]))
    local = [target.partition("#")[0] for target in found if "://" not in target and not target.startswith("mailto:")]
    folder = os.path.dirname(document)
    return {os.path.normpath(os.path.join(folder, target)).replace(os.sep, "/") for target in local if target}


def source_page(path):
    """The text of a file as a page (str)."""
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    fence = "`" * max([3] + [len(run) + 1 for run in re.findall(r"`{3,}", text)])
    return PAGE % (path, fence, LANGUAGES.get(os.path.splitext(path)[1], "text"), text.rstrip("\n"), fence)


def folder_page(path):
    """What a folder holds, as a page (str)."""
    names = sorted(name for name in os.listdir(os.path.join(ROOT, path)) if name not in SKIPPED)
    return PAGE % (path, "```", "text", "\n".join(names), "```")


def on_files(files, config):
    """The files of the site: documents, pictures, pages of the other files that documents link, and the theme's own."""
    pages = documents()
    linked = set().union(*map(targets, pages)) - set(pages)
    mine = Files([file for file in files if file.src_dir != config.docs_dir])
    for path in pages + sorted(path for path in linked if path.endswith(PICTURES)):
        mine.append(File(path, ROOT, config.site_dir, config.use_directory_urls))
    for path in sorted(linked):
        if os.path.isdir(os.path.join(ROOT, path)) and path + "/README.md" not in pages:
            mine.append(File.generated(config, path + ".md", content=folder_page(path)))
        elif os.path.isfile(os.path.join(ROOT, path)) and not path.endswith(PICTURES):
            mine.append(File.generated(config, path + ".md", content=source_page(path)))
    return mine


def on_page_markdown(markdown, page, config, files):
    """Let links to files that are no documents lead to their pages."""

    def led(match):
        target, hash_mark, rest = match.group(1).partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page.file.src_uri), target)).replace(os.sep, "/")
        for ending in (".md", "/README.md"):
            if target and not target.endswith(".md") and files.get_file_from_path(path + ending):
                return "](%s%s%s%s)" % (target.rstrip("/"), ending, hash_mark, rest)
        return match.group()

    return re.sub(r"\]\(([^)\s:]+)\)", led, markdown)


# The command's table has 91 columns, and docs/programs.md five of text: to be seen without scrolling at 1280 pixels. A
# name in the first column of a table stays in one piece.
STYLE = (
    "<style>.md-grid{max-width:76rem}.md-typeset pre>code{font-size:.72em}"
    "@media(min-width:76.25em){.md-typeset table:not([class]) :is(th,td){min-width:0;padding:.7em .6em}"
    ".md-typeset td:first-child code{word-break:normal}}</style>"
)


def on_post_page(output, page, config):
    """Make room for screens, and tell browsers and screen readers the language of the pages in Chinese."""
    if page.file.src_uri.endswith("_CN.md"):
        output = output.replace('<html lang="en"', '<html lang="zh"', 1)
    return output.replace("</head>", STYLE + "</head>", 1)


def on_post_build(config):
    """Take addresses of polyfills out of the theme's scripts: browsers of today need none, and nothing is to ask."""
    for path in glob.glob(os.path.join(config.site_dir, "assets", "javascripts", "**", "*.js"), recursive=True):
        with open(path, encoding="utf-8") as stream:
            script = stream.read()
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(re.sub(r"https://unpkg\.com/[\w@./-]*", "", script))
