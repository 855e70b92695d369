/**
 * The lines of a label: the status of a state has its own.
 *
 * @param {import('./chart-model.js').LayoutNode} node
 * @returns {readonly { line: string, at: Record<string, number | string> }[]}
 */
export const labelLines = ({ label, kind, x, y, w, h }) => {
  if (kind === 'region') return [{ line: label, at: { x: x + 10, y: y + 17 } }]
  const lines = label.split(/ (?=\()/)
  const top = y + h / 2 + 4 - (lines.length - 1) * 7
  return lines.map((line, index) => ({ line, at: { x: x + w / 2, y: top + index * 14, 'text-anchor': 'middle' } }))
}
