#!/bin/sh
# Build examples/paper.pdf from source. With --experiment, measure again first; with --report, only redraw.
# Needs pdflatex (booktabs, caption, titlesec, microtype, hyperref) and, for the two flags, numpy and matplotlib.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
export SOURCE_DATE_EPOCH=1767225600 FORCE_SOURCE_DATE=1

case "${1:-}" in
    --experiment) "$python" "$here/experiment/run.py" ;;
    --report) "$python" "$here/experiment/run.py" --report ;;
    "") ;;
    *) echo "usage: build.sh [--experiment | --report]" >&2; exit 2 ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$here/paper"
for pass in 1 2; do
    if ! pdflatex -interaction=nonstopmode -halt-on-error -output-directory="$scratch" paper.tex >"$scratch/out.txt"; then
        tail -n 30 "$scratch/out.txt" >&2
        exit 1
    fi
done
grep -E "Overfull|undefined|LaTeX Warning" "$scratch/paper.log" >&2 || true
mv "$scratch/paper.pdf" "$here/paper.pdf"
echo "wrote examples/paper.pdf"
