"""The style sheet of the page: phone to desk, light and dark, screen and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --soft: #f4f5f7; --ink: #1c1e21; --muted: #5a5f67; --line: #d5d8dd;
  --accent: #0072b2; --doubt: #8f3b00; --doubt-soft: #fdf1e6; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #15171a; --soft: #1f2227; --ink: #e6e8eb; --muted: #a3a9b3; --line: #3a3f47; --accent: #56b4e9;
    --doubt: #ffb27a; --doubt-soft: #33241a; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 82rem; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 3rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0 0.25rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.5rem 0 0.5rem; padding-top: 0.75rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.25rem 0 0.25rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
ul { margin: 0.5rem 0; padding-left: 1.2rem; max-width: 52rem; }
li { margin: 0.3rem 0; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.875rem; }
pre { margin: 0.25rem 0 1rem; padding: 0.75rem; background: var(--soft); border: 1px solid var(--line);
  border-radius: 6px; white-space: pre-wrap; }
nav { margin: 1.5rem 0 0; font-size: 0.9375rem; }
nav a { display: inline-block; margin: 0.15rem 1rem 0.15rem 0; padding: 0.2rem 0; }
.under { color: var(--muted); margin: 0 0 1rem; }
.answers { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
.answers > section { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; min-width: 0;
  padding: 0.75rem 1rem; }
.answers h2 { margin: 0 0 0.25rem; padding: 0; border: 0; font-size: 1rem; color: var(--muted); font-weight: 600; }
.answers .say { font-size: 1.1rem; font-weight: 600; line-height: 1.35; margin: 0.25rem 0 0.75rem; }
.answers ul { font-size: 0.9375rem; }
.answers li.doubt { color: var(--doubt); }
@media (min-width: 62rem) { .answers { grid-template-columns: minmax(0, 1.35fr) minmax(0, 1fr) minmax(0, 1fr); } }
.notes { background: var(--doubt-soft); border-left: 4px solid var(--doubt); padding: 0.25rem 0.75rem; margin: 1rem 0; }
figure { margin: 1rem 0 1.5rem; min-width: 0; }
figcaption { font-weight: 600; margin-bottom: 0.35rem; }
.scroll { overflow-x: auto; max-width: 100%; margin-bottom: 0.75rem; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.875rem; line-height: 1.35; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem 0.3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
  overflow-wrap: normal; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--muted); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 600; }
.name { display: inline-block; max-width: 18rem; overflow-wrap: break-word; }
td.text { overflow-wrap: break-word; }
.number { text-align: right; }
td.number { white-space: nowrap; }
.bars { width: 100%; }
.bars td.bar { width: 55%; vertical-align: middle; }
.track { position: relative; height: 0.9rem; background: var(--line); border-radius: 2px; }
.track .fill, .track .reach { position: absolute; top: 0; bottom: 0; display: block; }
.track .fill { background: var(--accent); border-radius: 2px; }
.track .reach { top: 40%; bottom: 40%; background: var(--ink); }
.picture { display: block; width: 100%; height: auto; }
@media screen and (max-width: 48rem) {
  .picture { width: 40rem; }
  tbody th { position: sticky; left: 0; background: var(--paper); }
  .name { max-width: 9.5rem; }
  th, td { padding-right: 0.5rem; }
  .answers tbody th { background: var(--soft); }
  .answers table { font-size: 0.8125rem; }
}
dt { font-weight: 600; margin-top: 0.75rem; }
dd { margin: 0.1rem 0 0.1rem 1.2rem; max-width: 52rem; }
dd.under { font-size: 0.9375rem; }
details { margin: 0.75rem 0; }
summary { cursor: pointer; font-weight: 600; }
footer { margin-top: 2.5rem; color: var(--muted); font-size: 0.875rem; }
@page { size: A4; margin: 14mm 12mm; }
@media print {
  :root { color-scheme: light; }
  html { font-size: 9.5pt; }
  body { max-width: none; padding: 0; }
  nav { display: none; }
  .answers { display: block; }
  .answers > section { margin-bottom: 0.75rem; background: none; }
  p, ul { max-width: none; }
  h2, h3, figcaption { break-after: avoid; }
  tr, pre, li, dd, .whole, figure.drawn { break-inside: avoid; }
  dd { break-before: avoid; }
  .answers > section { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  td.number { white-space: normal; }
  .track, .track .fill, .track .reach { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .picture { max-height: 240mm; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""
