"""What would be published: the right version, and all that is needed, in both kinds.

A script for `make dist`: it looks into the files of a folder.
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "cprime"


def main():
    folder = Path(sys.argv[1])
    stated = (PACKAGE / "version.py").read_text()
    version = re.search(r'__version__ = "(.+)"', stated).group(1)
    needed = {
        str(file.relative_to(ROOT / "src"))
        for file in PACKAGE.rglob("*")
        if file.is_file() and file.suffix in (".py", ".pyi", ".css", ".html", ".typed")
    }
    (sdist,) = folder.glob("*.tar.gz")
    wheels = list(folder.glob("*.whl"))
    wrong = [
        f"{file.name} is not of version {version}"
        for file in (sdist, *wheels)
        if not file.name.startswith(f"cprime-{version}")
    ]
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text():
        wrong.append(f"CHANGELOG.md has no section {version}")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {f"src/{name}" for name in needed}
    sources |= {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}
    sources |= {"CMakeLists.txt"}
    sources |= {str(f.relative_to(ROOT)) for f in (ROOT / "src/native").glob("*.?pp")}
    wrong += [f"{sdist.name} lacks {name}" for name in sorted(sources - names)]
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        wrong += [f"{wheel.name} lacks {name}" for name in sorted(needed - names)]
        if not any("_native" in name for name in names):
            wrong.append(f"{wheel.name} has no compiled code")
    if wrong:
        sys.exit("\n".join(wrong))
    n_wheels = f"{len(wheels)} wheel{'' if len(wheels) == 1 else 's'}"
    print(f"version {version}: 1 source distribution and {n_wheels}, complete")


if __name__ == "__main__":
    main()
