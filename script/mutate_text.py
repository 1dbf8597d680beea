"""What script/mutate breaks: where a guard, a comparison, a constant or a row stands in a text.

C is read by its tokens: comments, strings, preprocessor lines but #define of a number, assertions
and log lines are left alone. A Site is one place with the texts that may stand there instead; a
change never adds or removes a line.
"""

import collections
import re

Token = collections.namedtuple("Token", "kind text at line")
# name: what a line of a table or a header is called, for those who use it.
Site = collections.namedtuple("Site", "path line kind begin end choices name")

TOKEN = re.compile(
    r"""(?P<skip>\s+|\\\n|/\*.*?\*/|//[^\n]*)
    |(?P<pre>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|\.\.\.|->|&&|\|\||==|!=|<=|>=|<<|>>|\+\+|--|[-+*/%&|^]=|.)""",
    re.S | re.M | re.X,
)
DEFINE = re.compile(r"[ \t]*#\s*define\s+(\w+)[ \t]+(?=\S)")
NUMBER = re.compile(r"(?P<value>0[xX][0-9a-fA-F]+|[\d.]+(?:[eE][+-]?\d+)?)(?P<suffix>[uUlLfF]*)")
PROSE = ("source", "unit", "why", "say", "action", "what", "risk", "apply", "undo")
PAIRS = {"(": ")", "[": "]", "{": "}"}
LEAVES = ("return", "continue", "break", "goto")
OTHER_WAY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"}
NOT_STATEMENTS = (
    "return continue break goto if else for while do switch case default static const struct enum "
    "union unsigned char int long short float double void bool typedef extern register CLEANUP "
    "__typeof__ sizeof"
).split()
TYPE = re.compile(
    r"^(struct|enum|union|unsigned|char|int|long|short|float|double|bool|void|\w+_t)$"
)

# Calls whose arguments nobody tests: what a log says, and what is checked in debug builds alone.
TALK = re.compile(r"^(assert|static_assert|_Static_assert|log_\w+|__builtin_\w+)$")

# What changes nothing that a test could see, each with the reason; counted as excluded.
EQUIVALENT = [
    (
        "gives back memory: only a build that counts leaks sees it",
        re.compile(r"\b(\w*free\w*|\w+_done|\w*close\w*|munmap|pthread_\w+_destroy)\("),
        ("statement",),
    ),
    (
        "how a list grows: its length is the same",
        re.compile(r"\b(cap|room|size|capacity|allocated)\w*\b.*\*|\b(re|re\w+)alloc\(|\b2 \*"),
        ("constant",),
    ),
    (
        "how a hash mixes: what is found by it is the same",
        re.compile(r"\bhash\w*\b.*[*^]|\bh \^ h\b|= 0xcbf29ce484222325|\bmix\("),
        ("constant",),
    ),
    (
        "says to the compiler that a parameter is not used",
        re.compile(r"^\s*(\(void\)\w+, )*\(void\)\w+;$"),
        ("statement",),
    ),
    ("a zero of an initialiser: the first field alone", re.compile(r"= \{ ?0 ?\}"), ("constant",)),
    (
        "a descriptor that is none: any number below zero; 0 is taken",
        re.compile(
            r"\b(\w+_)?(fd|lock|log|dir|root|proc|socket|listener|notify|signals|sensor)"
            r" (= -1|>= 0|< 0)\b"
        ),
        ("constant", "comparison"),
    ),
    (
        "what a text has room for at first: it grows",
        re.compile(r"= STR_INIT\(\d+\);$"),
        ("constant",),
    ),
    (
        "the size of a buffer",
        re.compile(r"^\s*(static )?(char|uint8_t|unsigned char) \w+\[[^]]*\]"),
        ("constant",),
    ),
    (
        "nothing on this machine: advice, fences, the end of a list of arguments",
        re.compile(r"\b(posix_fadvise|madvise|setvbuf|__atomic_thread_fence|va_end)\("),
        ("statement", "constant"),
    ),
]


def excluded(kind, line):
    """Why a change of that kind on the line is known to change nothing, or None."""
    for reason, pattern, kinds in EQUIVALENT:
        if kind in kinds and pattern.search(line):
            return reason
    return None


def other_numbers(text):
    """What may stand for a number: half as much again, two thirds; the next where it is small."""
    found = NUMBER.fullmatch(text)
    if not found:
        return []
    value, suffix = found["value"], found["suffix"]
    if re.search(r"[.eE]", value) and not value.lower().startswith("0x"):
        number = float(value)
        if number == 0:
            return ["1.0" + suffix]
        return [repr(number * 1.5) + suffix, repr(number / 1.5) + suffix]
    is_octal = len(value) > 1 and value[0] == "0" and value.isdigit()
    number = int(value, 8 if is_octal else 0)
    if number <= 4:
        return [str(number + 1) + suffix]
    return [str(number * 3 // 2) + suffix, str(number * 2 // 3) + suffix]


def tokens(text):
    """All but blanks and comments."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        if match.lastgroup != "skip":
            found.append(Token(match.lastgroup, match.group(), match.start(), line))
        line += match.group().count("\n")
    return found


def partners(toks):
    """Of each opening bracket the index of its closing one, and the other way round."""
    pairs, open_ones = {}, []
    for i, tok in enumerate(toks):
        if tok.kind != "op":
            continue
        if tok.text in PAIRS:
            open_ones.append(i)
        elif tok.text in PAIRS.values() and open_ones:
            j = open_ones.pop()
            pairs[i], pairs[j] = j, i
    return pairs


class Reader:
    """The sites of one C file."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.all = tokens(text)
        self.toks = [tok for tok in self.all if tok.kind != "pre"]
        self.pairs = partners(self.toks)
        self.in_for = set()
        for i, tok in enumerate(self.toks[:-1]):
            if tok.text == "for" and i + 1 in self.pairs:
                self.in_for.update(range(i + 1, self.pairs[i + 1]))
        self.sites = []

    def end(self, i):
        return self.toks[i].at + len(self.toks[i].text)

    def is_op(self, i, text):
        return 0 <= i < len(self.toks) and self.toks[i].kind == "op" and self.toks[i].text == text

    def add(self, kind, i, begin, end, choices, name=None):
        """A site whose line is that of token i. Lines that the old text had are kept."""
        lost = self.text.count("\n", begin, end)
        choices = [c + "\n" * (lost - c.count("\n")) for c in choices]
        self.sites.append(Site(self.path, self.toks[i].line, kind, begin, end, choices, name))

    def read(self):
        for tok in self.all:
            if tok.kind == "pre":
                self.define(tok)
        i = 0
        while i < len(self.toks):
            if self.is_op(i, "{") and i in self.pairs:
                self.block(i, self.pairs[i])
                i = self.pairs[i]
            i += 1
        return self.sites

    def define(self, tok):
        """Numbers in what a name without arguments stands for."""
        found = DEFINE.match(tok.text)
        for part in tokens(tok.text[found.end() :]) if found else []:
            choices = other_numbers(part.text) if part.kind == "number" else []
            if choices:
                begin = tok.at + found.end() + part.at
                end, line = begin + len(part.text), tok.line + part.line - 1
                self.sites.append(Site(self.path, line, "constant", begin, end, choices, found[1]))

    def outline(self):
        """Of each line ("body", first line, None), ("data", first line, name) or nothing."""
        found = {}
        for tok in self.all:
            name = re.match(r"[ \t]*#\s*define\s+(\w+)", tok.text) if tok.kind == "pre" else None
            if name:
                for line in range(tok.line, tok.line + tok.text.count("\n") + 1):
                    found[line] = ("data", tok.line, name[1])
        i = 0
        while i < len(self.toks):
            if self.is_op(i, "{") and i in self.pairs:
                j = self.pairs[i]
                kind = "body" if self.is_op(i - 1, ")") else "data"
                begin = self.toks[self.head(i)].line
                for line in range(begin, self.toks[j].line + 1):
                    found[line] = (kind, begin, None if kind == "body" else self.named(i))
                if self.is_type(i):
                    for k in range(i + 1, j):
                        if self.is_op(k, "[") and self.toks[k - 1].kind == "name":
                            found[self.toks[k].line] = ("data", begin, self.toks[k - 1].text)
                i = j
            i += 1
        return found

    def is_type(self, i):
        """Whether braces at token i hold the members of a struct or union."""
        return self.toks[i - 2].text in ("struct", "union") if i > 1 else False

    def named(self, i):
        """What a declaration names that has braces at token i: a table, or nothing."""
        words = [self.toks[k].text for k in range(self.head(i), i)]
        if not words or words[-1] != "=":
            return None
        return words[words.index("[") - 1] if "[" in words else words[-2]

    def block(self, i, j):
        """Braces at file scope: a function, a table, an enum; types are left alone."""
        head = self.head(i)
        words = [self.toks[k].text for k in range(head, i)]
        if self.is_op(i - 1, ")"):
            self.body(i, j)
        elif self.is_op(i - 1, "="):
            self.table(i, j, "[" in words)
        elif words and "enum" in words[:2]:
            self.enum(i, j)

    def head(self, i):
        """Where the declaration before token i begins."""
        while i > 0 and not (self.is_op(i - 1, ";") or self.is_op(i - 1, "}")):
            i -= 1
        return i

    def enum(self, i, j):
        for k in range(i + 1, j):
            if self.is_op(k, "=") and (self.is_op(k + 2, ",") or k + 2 == j):
                self.number(k + 1, self.toks[k - 1].text)

    def table(self, i, j, is_array):
        """Rows of an array may go, numbers in a table change."""
        name = self.named(i)
        if is_array:
            for begin, end in self.rows(i, j):
                text = self.text[self.toks[begin].at : self.end(end)]
                if re.sub(r"NULL|[{}0,\s]", "", text):
                    self.add("row", begin, self.toks[begin].at, self.end(end), [""], name)
        for k in range(i + 1, j):
            if self.toks[k].kind == "number" and not self.is_op(k - 1, "["):
                self.number(k, name)

    def rows(self, i, j):
        """(first, last token) of what stands between commas, the comma with it."""
        found, begin, k = [], i + 1, i + 1
        while k < j:
            if self.toks[k].text in PAIRS and k in self.pairs:
                k = self.pairs[k]
            if self.is_op(k, ","):
                found.append((begin, k))
                begin = k + 1
            k += 1
        if begin < j and not self.is_op(j - 1, ","):
            found.append((begin, j - 1))
        return found

    def number(self, i, name=None):
        choices = other_numbers(self.toks[i].text) if self.toks[i].kind == "number" else []
        if choices:
            self.add("constant", i, self.toks[i].at, self.end(i), choices, name)

    def body(self, i, j):
        k = i + 1
        while k < j:
            tok = self.toks[k]
            if tok.kind == "name" and TALK.match(tok.text) and self.is_op(k + 1, "("):
                k = self.pairs.get(k + 1, k + 1)
            elif tok.kind == "name":
                k = self.word(k)
            elif tok.kind == "number":
                if not self.is_size(k):
                    self.number(k)
            elif tok.text in ("<", "<=", ">", ">="):
                self.add("comparison", k, tok.at, self.end(k), [OTHER_WAY[tok.text]])
            elif tok.text in ("&&", "||"):
                self.add("logic", k, tok.at, self.end(k), [OTHER_WAY[tok.text]])
            elif tok.text in ("*", "++", "--", "("):
                self.statement(k)
            k += 1

    def word(self, k):
        """What begins with a name; returns where to go on."""
        if self.toks[k].text == "if" and self.is_op(k + 1, "("):
            self.guard(k + 1)
        else:
            self.statement(k)
        return k

    def guard(self, i):
        """if (...) that leaves: never, and the other way round."""
        j = self.pairs.get(i)
        if j is None or not self.leaves(j + 1):
            return
        begin, end = self.toks[i].at, self.end(j)
        cond = self.text[begin:end]
        self.add("guard", i, begin, end, [f"({cond} && 0)", f"(!{cond})"])

    def leaves(self, i):
        """Whether the statement at i, or the last one of a block, goes elsewhere."""
        if self.is_op(i, "{"):
            end = self.pairs.get(i, i)
            last = end - 1
            while last > i and not (self.is_op(last - 1, ";") or self.is_op(last - 1, "{")):
                last -= 1
            i = last
        return i < len(self.toks) and self.toks[i].text in LEAVES

    def is_size(self, k):
        """Whether a number is the length of an array that is declared there."""
        if not self.is_op(k - 1, "["):
            return False
        while k > 0 and self.toks[k - 1].text not in (";", "{", "}"):
            k -= 1
        first, after = self.toks[k], self.toks[k + 1]
        return bool(TYPE.match(first.text)) or (first.kind == after.kind == "name")

    def is_text_size(self, k):
        """Whether it is the length of a text that is declared there."""
        begin = k
        while begin > 0 and self.toks[begin - 1].text not in (";", "{", "}"):
            begin -= 1
        words = {tok.text for tok in self.toks[begin:k]}
        return self.is_size(k) and bool(words & {"char", "uint8_t"})

    def lengths(self):
        """(names that stand for nothing but lengths of texts that are declared, all names)"""
        all_uses, as_length = collections.Counter(), collections.Counter()
        for tok in self.all:
            if tok.kind == "pre":
                all_uses.update(re.findall(r"[A-Za-z_]\w*", tok.text))
        for k, tok in enumerate(self.toks):
            if tok.kind == "name" and not self.is_op(k + 1, "="):
                all_uses[tok.text] += 1
                as_length[tok.text] += self.is_op(k + 1, "]") and self.is_text_size(k)
        return {name for name, n in all_uses.items() if as_length[name] == n}, set(all_uses)

    def begins(self, k):
        """Whether a statement begins at token k; what parts a for is none."""
        before = self.toks[k - 1]
        if k in self.in_for:
            return False
        if before.text in (";", "{", "}", "else", "do"):
            return True
        if before.text == ":":
            return self.toks[k - 3].text == "case" or self.toks[k - 2].text == "default"
        if before.text == ")" and k - 1 in self.pairs:
            return self.toks[self.pairs[k - 1] - 1].text in ("if", "for", "while", "switch")
        return False

    def statement(self, k):
        """An assignment or a call whose value nobody uses: gone."""
        tok = self.toks[k]
        if tok.text in NOT_STATEMENTS or not self.begins(k):
            return
        if tok.kind == "name" and (TYPE.match(tok.text) or self.toks[k + 1].kind == "name"):
            return
        if tok.kind == "name" and self.is_op(k + 1, "*") and self.toks[k + 2].kind == "name":
            return  # a declaration, or a product that nobody uses
        end = k
        while end < len(self.toks) and self.toks[end].text not in (";", "}"):
            end = self.pairs.get(end, end) if self.toks[end].text in PAIRS else end
            end += 1
        if not self.is_op(end, ";"):
            return
        texts = [t.text for t in self.toks[k:end]]
        if ":" in texts and "?" not in texts:
            return  # a label
        self.add("statement", k, tok.at, self.end(end), [";"])


def c_sites(path, text):
    """All sites of a C file or header."""
    return Reader(path, text).read()


def by_half(text):
    """A number of a data file, half as much again and half as much; whole ones stay whole."""
    if "." in text:
        return [f"{float(text) * factor:.10g}" for factor in (1.5, 0.5)]
    number = int(text)
    return [str(number + max(1, number // 2)), str(number // 2)]


def outline(text):
    """Of each line of a C file where it stands: see Reader.outline()."""
    return Reader("", text).outline()


def ini_sites(path, text):
    """Numbers behind a key, but for those in prose and in commands."""
    found = []
    at = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        match = re.match(r"\s*([\w.-]+)\s*=\s*", line)
        if match and match[1] not in PROSE:
            for n in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])|(?<![\w.])\d+(?=\w)", line):
                if n.start() >= match.end() and float(n.group()) != 0:
                    choices = by_half(n.group())
                    begin, end = at + n.start(), at + n.end()
                    found.append(Site(path, number, "data", begin, end, choices, None))
        at += len(line)
    return found


def csv_sites(path, text):
    """Rows, and cells that are numbers; the first line names the columns."""
    found, at, has_head = [], 0, False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        plain = line.rstrip("\n")
        if plain and not plain.startswith("#"):
            if has_head:
                found.append(Site(path, number, "row", at, at + len(plain), ["# gone"], None))
                for n in re.finditer(r"(?:(?<=,)|^)\d+(?:\.\d+)?(?=,|$)", plain):
                    if float(n.group()) != 0:
                        choices = by_half(n.group())
                        begin, end = at + n.start(), at + n.end()
                        found.append(Site(path, number, "data", begin, end, choices, None))
            has_head = True
        at += len(line)
    return found


READERS = {".c": c_sites, ".h": c_sites, ".ini": ini_sites, ".csv": csv_sites}


def sites(path, text):
    """All sites of a file, by the end of its name; of others none."""
    reader = READERS.get(path[path.rfind(".") :])
    return reader(path, text) if reader else []


def lengths(texts):
    """Names that are nothing but lengths of texts, wherever they stand in these files of C."""
    only, other = set(), set()
    for text in texts:
        these, every = Reader("", text).lengths()
        only |= these
        other |= every - these
    return only - other


def changed(text, site, choice):
    """The text with that choice at the site."""
    return text[: site.begin] + site.choices[choice] + text[site.end :]


def words(text):
    """The lines on which each name stands in a C file, comments and strings aside."""
    found = collections.defaultdict(set)
    for tok in tokens(text):
        if tok.kind == "name":
            found[tok.text].add(tok.line)
        elif tok.kind == "pre":
            for name in re.findall(r"[A-Za-z_]\w*", tok.text):
                found[name].add(tok.line)
    return found
