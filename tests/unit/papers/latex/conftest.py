"""A small paper of several files, and a way to read LaTeX straight from a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from referee.papers.latex import load_latex
from referee.schemas.paper import Paper

MAIN = r"""
\documentclass[11pt]{article}
\usepackage[round]{natbib}
\usepackage{amsmath,amsthm,booktabs,multirow,algorithm,algpseudocode,macros}
\newtheorem{theorem}{Theorem}[section]
\newtheorem{lemma}[theorem]{Lemma}
\newcommand{\sys}{\textsc{Ours}\xspace}
\newcommand{\norm}[2][2]{\lVert #2 \rVert_{#1}}
\DeclareMathOperator*{\argmin}{arg\,min}
\title{A Small Paper\thanks{Funded by nobody.}\\ About \sys and $k$-Means}
\author{Ada Author \\ University of Tests \\ \texttt{ada@example.org} \and Ben Writer}
\date{May 2024}
\begin{document}
\maketitle
\begin{abstract}
We study \sys, which improves 12.5\% over others. % SECRET-REMARK for nobody
\end{abstract}
\section{Introduction}\label{sec:intro}
\input{sections/intro}
\section{Method}
\label{sec:method}
\input sections/method.tex
\include{sections/results}
\section*{Acknowledgments}
Thanks to all.
\bibliographystyle{plainnat}
\bibliography{refs}
\appendix
\section{Proofs}\label{app:proofs}
\subsection{First Proof}
See \cref{tab:main} and Appendix~\ref{app:proofs}.
\end{document}
Text after the end.
"""
INTRO = r"""
As \citet{lo2020} said, and others agree \citep[see][p.~3]{wu2019,lo2020}, \sys is good.\footnote{A note on goodness.}
We show it in Section~\ref{sec:method}, \eqref{eq:loss} and Theorem~\ref{thm:main}; the data are in
Tables~\ref{tab:main} and~\ref{tab:more}, Figure~\ref{fig:one} and Algorithm~\ref{alg:one}.
\iffalse SECRET-SWITCHED-OFF \fi
\begin{comment}
SECRET-COMMENT
\end{comment}

Our contributions:
\begin{enumerate}
\item A first one.
\item A second one with a list:
  \begin{itemize}
  \item inner
  \end{itemize}
\end{enumerate}
"""
METHOD = r"""
\paragraph{Loss.} We minimise
\begin{equation}
  L(\theta) = \norm{y - f_\theta(x)} \label{eq:loss}
\end{equation}
and find
\begin{align}
  a &= b \label{eq:a} \\
  c &= d \nonumber \\
  e &= \argmin_x \begin{cases} 1 \\ 2 \end{cases} \label{eq:e}
\end{align}
so \eqref{eq:a} precedes \eqref{eq:e}. Unnumbered:
\[ z = 1 \]
\begin{theorem}[Main]\label{thm:main}
All is well.
\end{theorem}
\begin{proof} By \eqref{eq:loss}. \end{proof}
\begin{lemma} So it stays. \end{lemma}
\begin{algorithm}[t]
\caption{Doing it}\label{alg:one}
\begin{algorithmic}[1]
\Require data $x$
\For{$i=1$ to $n$}
  \If{$x_i > 0$} \State add $x_i$ \Comment{only positive}
  \EndIf
\EndFor
\State \Return sum
\end{algorithmic}
\end{algorithm}
"""
RESULTS = r"""
\subsection{Results}
\begin{table}[t]
\centering
\caption{Main results. Bold is best.}\label{tab:main}
\begin{tabular}{@{}llrr@{}}
\toprule
 & & \multicolumn{2}{c}{Score} \\
\cmidrule(lr){3-4}
Data & Method & mean & sd \\
\midrule
\multirow{2}{*}{A} & base & 81.2 & $\pm 0.3$ \\
 & \sys & \textbf{84.5} & $\pm 0.2$ \\
\bottomrule
\end{tabular}
\end{table}
\begin{table*}
\begin{tabular}{|l|c|} \hline
x & $-1.5$ \\ \hline
y & $\mathbf{2}$ \% \\ \hline
\end{tabular}
\caption{More results.}
\label{tab:more}
\end{table*}
\begin{figure}
\includegraphics[width=\linewidth]{plots/one.pdf}
\caption{One plot of $x^2$.}
\label{fig:one}
\end{figure}
\begin{verbatim}
code % stays \here
\end{verbatim}
Use \verb|a_b%c| and \unknowncommand{kept words}. A hat over \'e and \"{o}.
"""
BIB = r"""
@string{jot = "Journal of Tests"}
@article{lo2020, author = {Lo, Kyle and {de la} Cruz, Ana and Wang, Lucy}, title = {A {BIG} Corpus},
  journal = jot, volume = 3, number = {2}, pages = "1--9", year = 2020, doi = {10.1000/xyz}}
@inproceedings{wu2019, author={Jane Wu}, title={On Things}, booktitle={Proceedings of Things}, year={2019}}
@misc{unused, author={No One}, title={Never Cited}, year={1999}}
"""
STYLE = r"\newcommand{\fromstyle}{a style's word}\def\@inner#1{never}"
FILES = {
    "main.tex": MAIN,
    "sections/intro.tex": INTRO,
    "sections/method.tex": METHOD,
    "sections/results.tex": RESULTS,
    "refs.bib": BIB,
    "macros.sty": STYLE,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The paper's folder; its main file is ``main.tex``."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def project_files() -> dict[str, bytes]:
    """The same paper as an archive's members."""
    return {name: text.encode() for name, text in FILES.items()}


@pytest.fixture
def read_tex(tmp_path: Path) -> Callable[..., Paper]:
    """Read a body (put into an article) or, with ``whole``, a complete source."""

    def read(body: str, *, preamble: str = "", whole: bool = False) -> Paper:
        source = body if whole else f"\\documentclass{{article}}{preamble}\\begin{{document}}{body}\\end{{document}}"
        return load_latex(tmp_path / "paper.tex", source.encode())

    return read
