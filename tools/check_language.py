"""Check that texts are plain American English: documents, comments, docstrings, messages, names and commits.

    python -m tools.check_language [--base REV] [FILE…]

It finds sentences of more than 40 words, words that have a plainer one, British spellings, lines of documents over 120
characters and, of the commits after REV, subjects over 72 characters. Names of functions and tests are read as words.
Without FILE it checks all files that git tracks.

tools/language-exceptions.toml lists texts that may stay, each with its reason.
"""

import argparse
import fnmatch
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.prose import CODE, Passage, document_lines, function_names, passages

ROOT = Path(__file__).parents[1]
EXCEPTIONS = Path("tools/language-exceptions.toml")

MAX_SENTENCE_WORDS = 40
MAX_LINE_CHARACTERS = 120
MAX_SUBJECT_CHARACTERS = 72

WORDS = (
    (r"tell(?:s|ing)?|told", "show, report, give, distinguish"),
    (r"beside", "next to, compared with, versus, in addition to"),
    (r"so (?:many|much)(?! (?:that|as)\b)", "n, that many"),
    (r"of ours|our own|(?<!of )ours", "built-in, Timpani's"),
    (r"(?:the|a) library's own", "the library's"),
    (r"looked at|a look", "sampled, interim analysis"),
    (r"(?:an|any|the|no) otherwise", "differs"),
    (r"alike", "the same, equal"),
    (r"(?:goes|went|go) on", "continues, resumes"),
    (r"begun", "started"),
    (r"foretold", "predicted"),
    (r"(?:hold|holds|held) (?:\w+ )?against", "compare with"),
    (r"(?-i:is none|none is|[Tt]here (?:is|are|was|were) none)", "no …"),
    (r"nobody knows|(?:not|isn't|aren't|wasn't) known", "unknown"),
    (r"serves", "applies to, covers, is good enough for"),
    (r"(?:take|takes|took|taken|taking) part", "competes, is included"),
    (r"given up", "abandoned, excluded after N failures"),
    (r"by itself|of its own", "alone, separate"),
    (r"held[ -]out", "not used for choosing, test points"),
    (r"hand(?:s|ed|ing)? (?:\w+ ){0,2}over", "delegate, pass"),
    (r"in turn|(?:take|takes|took|taking) turns", "alternately, interleaved"),
    (r"(?:timpani \w+|program|command|verdict|dry run|doctor) says", "prints, reports"),
    (r"(?:make|makes|made|making) of", "builds from, consists of"),
    (r"shown not to be|not shown to be", "is not significantly"),
    (r"choices? costs?|costs? of (?:a|the) choice", "loses, is slower by"),
    (r"two kinds of launches", "bimodal launches"),
    (r"\w*(?:colour|behaviour|neighbour|favour|honour)\w*", "-or"),
    (
        r"\w*(?:character|general|initial|maxim|minim|normal|optim|organ|parallel|random|recogn|serial|special|standard"
        r"|summar|synchron|util|virtual|visual)is(?:e[drs]?|ing|ations?)",
        "-ize",
    ),
    (r"cent(?:re[ds]?|ring)", "center"),
    (r"(?:re|un)?labell(?:ed|ing)", "labeled, labeling"),
    (r"grey", "gray"),
    (r"misspelt", "misspelled"),
)
"""Each expression with what to write instead, as a word or more of a text."""

_WORD = re.compile("|".join(rf"(?P<w{i}>\b(?:{pattern})\b)" for i, (pattern, _) in enumerate(WORDS)), re.IGNORECASE)
_WHAT = re.compile(r"What [^?:]*\b(?:is|are|was|were|does|do|did)\b[^?:]*\b(?:is|are|was|were|does|do|did)\b[^?:]*[.]$")
"""A sentence whose subject is a clause: 'What was chosen is faster.'"""
_CLAUSE_NAMES = re.compile(r"test what(?:ever)?\b|.*\b(?:is|are|and) said\b|(?:of|named|said|told|where|words)$")
"""Names that begin with a clause instead of a subject, or are no noun or verb."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'”]*\s+(?=[A-Z0-9\"'(`“]|$)")


@dataclass(frozen=True)
class Finding:
    path: str
    line: int  # from 1; 0 for the subject of a commit
    text: str  # what was found, as it stands there
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


@dataclass(frozen=True)
class LanguageException:
    """A text that may stay.

    path    a pattern of file names, as in a shell
    text    a regular expression that the finding's text contains; everything when empty
    reason  why it may stay
    """

    path: str
    text: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        return fnmatch.fnmatch(finding.path, self.path) and re.search(self.text, finding.text) is not None


def check_passage(path: str, passage: Passage) -> Iterator[Finding]:
    """The avoided words and the long sentences of a passage."""
    for found in _WORD.finditer(passage.text):
        advice = WORDS[int((found.lastgroup or "w0")[1:])][1]
        line = passage.line_at(found.start())
        yield Finding(path, line, found[0], f"write {advice} instead of '{found[0].replace(CODE, '…')}'")
    start = 0
    for sentence in _SENTENCE_END.split(passage.text):
        line = passage.line_at(passage.text.find(sentence, start))
        start += len(sentence)
        shown = sentence.replace(CODE, "…")[:70]
        words = sum(any(character.isalnum() for character in word) for word in sentence.split())
        if words > MAX_SENTENCE_WORDS:
            yield Finding(path, line, sentence, f"sentence of {words} words, over {MAX_SENTENCE_WORDS}: {shown}…")
        if _WHAT.match(sentence):
            yield Finding(path, line, sentence, f"name the subject instead of 'What … is': {shown}…")


def check_name(path: str, line: int, name: str) -> Iterator[Finding]:
    """The avoided words of a function's name; a name that is a clause, such as `test_what_is_new`, or `of`."""
    text = name.strip("_").replace("_", " ")
    if found := _WORD.search(text):
        advice = WORDS[int((found.lastgroup or "w0")[1:])][1]
        yield Finding(path, line, name, f"write {advice} instead of '{found[0]}' in the name {name}")
    if _CLAUSE_NAMES.match(text):
        yield Finding(path, line, name, f"name what {name} shows, returns or does")


def check_file(root: Path, name: str) -> list[Finding]:
    """All findings of the file `name` below `root`."""
    path = root / name
    try:
        prose = passages(path)
    except (SyntaxError, UnicodeDecodeError) as error:
        return [Finding(name, getattr(error, "lineno", None) or 1, "", f"can't be read: {error}")]
    findings = [finding for passage in prose for finding in check_passage(name, passage)]
    findings += [finding for line, function in function_names(path) for finding in check_name(name, line, function)]
    if path.suffix == ".md":
        for number, line in document_lines(path.read_text(encoding="utf-8")):
            # A row of a table can't be wrapped.
            if len(line) > MAX_LINE_CHARACTERS and not line.lstrip().startswith("|"):
                message = f"line of {len(line)} characters, over {MAX_LINE_CHARACTERS}"
                findings.append(Finding(name, number, line, message))
    return findings


def check_subjects(root: Path, base: str) -> list[Finding]:
    """The long subjects of the commits after `base`; of all commits where that is a tree, as the empty one."""
    is_tree = _git(root, "cat-file", "-t", base).strip() == "tree"
    log = _git(root, "log", "--format=%h %s", "HEAD" if is_tree else f"{base}..HEAD").splitlines()
    commits = [line.partition(" ") for line in log]
    message = f"subject of {{}} characters, over {MAX_SUBJECT_CHARACTERS}: {{}}"
    return [
        Finding(f"commit {commit}", 0, subject, message.format(len(subject), subject))
        for commit, _, subject in commits
        if len(subject) > MAX_SUBJECT_CHARACTERS
    ]


def read_exceptions(root: Path) -> list[LanguageException]:
    listed = tomllib.loads((root / EXCEPTIONS).read_text(encoding="utf-8"))["exception"]
    return [LanguageException(each["path"], each.get("text", ""), each["reason"]) for each in listed]


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout


def check(root: Path, named: Sequence[str] = (), base: str | None = None) -> int:
    """Print the findings without an exception. Returns the exit status, 1 if there are findings."""
    tracked = _git(root, "ls-files", "-co", "--exclude-standard").splitlines()
    tracked = [name for name in tracked if (root / name).is_file()]
    exceptions = read_exceptions(root)
    unknown = sorted(set(named) - set(tracked))
    if unknown:
        print(f"git knows no file {', '.join(unknown)}; name files from {root}", file=sys.stderr)
        return 2
    try:
        findings = check_subjects(root, base) if base else []
    except subprocess.CalledProcessError as error:
        print(f"--base {base}: {error.stderr.strip()}; name a commit", file=sys.stderr)
        return 2
    for name in named or tracked:
        findings += [each for each in check_file(root, name) if not any(x.covers(each) for x in exceptions)]
    for finding in findings:
        print(finding)
    return int(bool(findings))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="files to check instead of all")
    parser.add_argument("--base", metavar="REV", help="check the subjects of the commits after this one")
    parsed = parser.parse_args(arguments)
    return check(ROOT, parsed.files, parsed.base)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
