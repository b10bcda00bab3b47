"""A block of a page, between lines `<!-- NAME -->` and `<!-- /NAME -->`.

usage: block.py PAGE NAME           puts standard input there
       block.py --merge PAGE NAME   puts rows into the table there, each with today's date as a last cell: in place of
                                    the row whose first cell is the same, or at the end
       block.py --show PAGE NAME    prints what is there

Fails, and leaves the page as it is, unless there is one line of each, in this order, and where nothing is to be put.
"""

import datetime, pathlib, sys


def find(lines, page, name):
    """The numbers of the lines between the markers."""
    places = []
    for marker in (f"<!-- {name} -->", f"<!-- /{name} -->"):
        found = [number for number, line in enumerate(lines) if line.strip() == marker]
        if len(found) != 1:
            sys.exit(f"{page}: {len(found)} lines {marker!r}; expected one")
        places.append(found[0])
    begin, end = places
    if begin > end:
        sys.exit(f"{page}:{end + 1}: {name} ends before it begins, on line {begin + 1}")
    return begin + 1, end


def merge(old, rows, page, name):
    """The lines of a block with the rows in its table."""
    first = lambda line: line.split("|")[1].strip()
    tables = [number for number, line in enumerate(old) if line.startswith("| --")]
    if len(tables) != 1:
        sys.exit(f"{page}: {len(tables)} tables in {name}; expected one")
    body = tables[0] + 1
    kept, after = old[:body], old[body:]
    cells = kept[-1].count("|") - 2
    today = datetime.date.today().strftime("%-d %B %Y")
    for row in rows.splitlines():
        if not row.startswith("| ") or row.count("|") - 1 != cells:
            sys.exit(f"{page}: {row!r} is no row of {cells} cells for {name}")
        line = f"{row.rstrip()} {today} |\n"
        same = [number for number, other in enumerate(after) if other.startswith("| ") and first(other) == first(row)]
        if same:
            after[same[0]] = line
        else:
            after.append(line)
    return kept + after


def main(option, page, name):
    path = pathlib.Path(page)
    try:
        lines = path.read_text().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{page}: {error}")
    begin, end = find(lines, page, name)
    if option == "--show":
        sys.stdout.write("".join(lines[begin:end]))
        return
    text = sys.stdin.read()
    if not text.strip():
        sys.exit(f"{page}: nothing to put into {name}")
    lines[begin:end] = merge(lines[begin:end], text, page, name) if option else [text.rstrip("\n") + "\n"]
    path.write_text("".join(lines))


arguments = sys.argv[1:]
option = arguments.pop(0) if arguments[:1] in (["--show"], ["--merge"]) else None
if len(arguments) != 2:
    sys.exit(__doc__)
main(option, *arguments)
