"""The page that holds everything, with gaps for what was measured."""

from string import Template

PAGE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper, measured</title>
<style>
  :root { color-scheme: light; }
  body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 0 auto;
         max-width: 1200px; padding: 2rem 1.5rem 5rem; }
  h1 { font-size: 1.7rem; margin: 0 0 .3rem; }
  h2 { font-size: 1.2rem; margin: 3rem 0 .5rem; }
  .lead { color: #555; margin-top: 0; }
  .score { font-size: 1.2rem; margin-bottom: .2rem; }
  .others { list-style: none; margin: 0 0 1.2rem; padding: 0; }
  summary { cursor: pointer; color: #1864ab; margin: .5rem 0; }
  nav a { margin-right: 1rem; white-space: nowrap; }
  a { color: #1864ab; }
  img { width: 100%; height: auto; margin: 1rem 0; }
  figure { margin: 1rem 0; }
  figcaption { font-weight: 600; margin-bottom: .3rem; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; font-size: 13px; width: 100%; }
  th { text-align: left; border-bottom: 1px solid #999; padding: .25rem .5rem; }
  td { border-bottom: 1px solid #e5e5e5; padding: .25rem .5rem; vertical-align: top;
       font-variant-numeric: tabular-nums; }
  td:first-child { white-space: nowrap; }
  .published td { border-top: 1px solid #999; font-weight: 600; }
  .pins { color: #2b8a3e; font-weight: 700; }
  .yes { color: #1864ab; }
  .no { color: #c92a2a; font-weight: 700; }
</style>
<h1>The paper, measured</h1>
<p class="lead">Lücke &amp; Forster, <em>k-means as a variational EM approximation of
Gaussian mixture models</em>, Pattern Recognition Letters 125 (2019), beside what
cprime $version measured on $date, in runs that take $minutes minutes one after
another. $size</p>
<p class="score"><strong>$score</strong></p>
<p>$meanings</p>
<p>$rule</p>
<ul class="others">$others</ul>
<nav>$links <a href="#power">What verdicts rule out</a>
<a href="#verdicts">All verdicts</a></nav>
$exhibits
<section id="power"><h2>What verdicts rule out</h2>$alternatives
<details><summary>verdict by verdict</summary>$power</details></section>
<section id="verdicts"><h2>All verdicts</h2>$verdicts</section>
</html>
""")
