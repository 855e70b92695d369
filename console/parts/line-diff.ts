/** Number of lines of each text up to which they are compared line by line. */
const maxLines = 1500

/** The lines of two texts in their order: kept, removed, added. */
export const lineDiff = (
  before: string,
  after: string,
): readonly (readonly [sign: ' ' | '-' | '+', line: string])[] => {
  const [old, now] = [before.split('\n').slice(0, maxLines), after.split('\n').slice(0, maxLines)]
  // lengths of the longest common sequences of the rests
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1))
  const at = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) {
      const row = common[i]
      if (row) row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  const lines: (readonly [' ' | '-' | '+', string])[] = []
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    const kept = i < old.length && j < now.length && old[i] === now[j]
    const gone = !kept && (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
    lines.push(kept ? [' ', old[i] ?? ''] : gone ? ['-', old[i] ?? ''] : ['+', now[j] ?? ''])
    if (kept || gone) i++
    if (kept || !gone) j++
  }
  return lines
}
