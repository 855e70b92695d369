/** Returns the page that draws the charts of machines, and marks the states of an actor. Names hold letters and digits. */
export const chartPage = (machines: readonly string[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Actors</title>
<link rel="stylesheet" href="/code/chart.css">
<style>
:root { color-scheme: light; --ink: #1a1d21; --soft: #5b6570; --panel: #fff; --edge: #9aa5b1; --line: #d5dbe1; --bad: #c0362c;
  --good: #1f7a4d; --accent: #2f6fde; --mono: ui-monospace, monospace }
body { margin: 2rem; font: 15px system-ui, sans-serif; color: var(--ink) }
form { margin: 1rem 0 } input { width: 26rem; font: 13px var(--mono) } pre { color: var(--soft) }
.chart { width: 100%; height: 75vh }
.chart [data-standing="active"] rect, .chart [data-standing="current"] rect { stroke: var(--accent); stroke-width: 2 }
</style>
<nav>${machines.map((name) => `<a href="#${name}">${name}</a>`).join(' · ')}</nav>
<form><label>Actor <input name="id" placeholder="order_…"></label> <button>Show</button></form>
<main></main>
<pre></pre>
<script type="module">
import { Chart } from '/code/chart.ts'
const [form, main, pre] = ['form', 'main', 'pre'].map((name) => document.querySelector(name))
const known = ${JSON.stringify(machines)}
const read = async (path) => (await fetch(path)).json()
let shown, chart
const draw = async (name) => {
  if (shown === name) return
  shown = name
  chart = new Chart(await read('/charts/' + name))
  main.replaceChildren(chart.element)
}
const show = async () => {
  const target = location.hash.slice(1)
  if (target === '' || known.includes(target)) {
    pre.textContent = ''
    return draw(target || known[0])
  }
  const actor = await read('/actors/' + target)
  await draw(actor.machine)
  chart.light(actor.active)
  pre.textContent = JSON.stringify({ value: actor.value, running: actor.running, context: actor.context }, null, 2)
}
const showOrSay = () => show().catch(() => { pre.textContent = 'There is no such actor.' })
form.addEventListener('submit', (event) => { event.preventDefault(); location.hash = form.elements.id.value.trim() })
addEventListener('hashchange', showOrSay)
await showOrSay()
setInterval(showOrSay, 1000)
</script>
</html>
`
