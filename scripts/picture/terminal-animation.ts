/** A line of terminal output, and when it appeared. */
export interface TimedLine {
  readonly text: string
  /** Time in ms since the first line. */
  readonly at: number
}

const width = 100
const lineHeight = 19
const margin = 18
/** Limits in ms of the pause before a line, whatever the machine took, and the pause at the end. */
const pacing = { minMs: 140, maxMs: 1100, endMs: 6000 } as const

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const cut = (text: string): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

const colorOf = (text: string): string => {
  if (text.startsWith('$')) return '#e6edf3'
  if (/turn\.paused|^the session is paused/.test(text)) return '#e3b341'
  if (/turn\.completed|^the turn is complete/.test(text)) return '#56d364'
  if (text.startsWith('POST')) return '#79c0ff'
  return '#9da7b3'
}

/**
 * Returns an animated SVG of a terminal in which these lines appear one after the other, in an endless loop. Pauses are
 * those of the run, within readable limits.
 */
export const terminalAnimation = (lines: readonly TimedLine[]): string => {
  const paced = lines.map(({ at }, index) =>
    Math.min(pacing.maxMs, Math.max(pacing.minMs, at - (lines[index - 1]?.at ?? at))),
  )
  const wholeMs = paced.reduce((sum, ms) => sum + ms, 0) + pacing.endMs
  const height = margin * 2 + lines.length * lineHeight
  let shownAt = 0
  const texts = lines.map(({ text }, index) => {
    shownAt += paced[index] ?? 0
    const from = ((100 * shownAt) / wholeMs).toFixed(2)
    return {
      rule: `@keyframes l${index}{0%,${from}%{opacity:0}${(Number(from) + 0.01).toFixed(2)}%,100%{opacity:1}}`,
      line: `<text x="${margin}" y="${margin + 14 + index * lineHeight}" fill="${colorOf(text)}" style="animation:l${index} ${wholeMs}ms infinite">${escaped(cut(text))}</text>`,
    }
  })
  const size = `width="${width * 8.1 + margin * 2}" height="${height}" viewBox="0 0 ${width * 8.1 + margin * 2} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="A turn that is pending approval, in a terminal">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}${texts.map(({ rule }) => rule).join('')}@media (prefers-reduced-motion:reduce){text{animation:none!important}}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.map(({ line }) => line).join('\n')}
</svg>
`
}
