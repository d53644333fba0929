"""Take the pictures of docs/serving.md: the pages of `naively serve` in chromium, of the penguins of tests/data_sets.

Usage: python tools/page_pictures.py, after `make browser`, which installs what it needs.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which
from urllib.parse import urlencode

import naively

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
PENGUINS = ROOT / "tests" / "data_sets" / "penguins.csv"
ROW = urlencode({"v.island": "Dream", "v.bill_length_mm": "44", "v.body_mass_g": "3600"})
PAGES = {
    "ask": f"ask?{ROW}",
    "why": f"why?{ROW}",
    "nomogram": "nomogram?p.island=2&p.bill_length_mm=2",
    "label": "label",
    "history": "history",
    "evaluation": "evaluation",
    "model": "model",
}
SIZE = (1180, 760)
N_COLOURS = 160


def main() -> None:
    """Serve a model of half of the penguins, label three rows, and write a picture of each page."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        head, *rows = PENGUINS.read_text().splitlines()
        for name, part in (("train", rows[::2]), ("test", rows[1::4]), ("pool", rows[3::4])):
            (Path(folder) / f"{name}.csv").write_text("\n".join([head, *part]) + "\n")
        families = dict.fromkeys(
            ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"), naively.Gaussian()
        )
        model = naively.fit(Path(folder) / "train.csv", "species", columns=families)
        model.save(Path(folder) / "penguins.naively", source="train.csv")
        command = [sys.executable, "-m", "naively", "serve", "penguins.naively", "--port", "0", "--learn"]
        command += ["--pool", "pool.csv", "--test", "test.csv"]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        with server as process, sync_playwright() as p:
            assert process.stdout is not None
            match = re.search(r"(http://\S+?)/?\?token=(\S+)", process.stdout.readline())
            assert match is not None
            browser = p.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
            page.goto(match[0])
            page.goto(f"{match[1]}/models/penguins/label")
            for _ in range(3):
                page.locator("#label button").first.click()
            for name, path in PAGES.items():
                page.goto(f"{match[1]}/models/penguins/{path}")
                target = FOLDER / f"page_{name}.png"
                page.screenshot(path=target)
                with Image.open(target) as picture:
                    colours = picture.convert("RGB")
                small = colours.quantize(N_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
                small.save(target, optimize=True)
                print(f"{target.relative_to(ROOT)} {target.stat().st_size:,} bytes")
            browser.close()
            process.terminate()


if __name__ == "__main__":
    main()
