/**
 * Returns a number that follows from a process and a subject. Of several processes, the one with the highest number wins
 * the subject: a process that joins or leaves changes only the subjects that it wins.
 */
export const drawOf = (process: string, subject: number): number => {
  let hash = 0x811c9dc5 ^ Math.imul(subject + 1, 0x9e3779b1)
  for (let index = 0; index < process.length; index++) hash = Math.imul(hash ^ process.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Returns the nodes in the order in which they win a key: by their names, which a restart does not change. */
export const drawnFor = <T extends { readonly node: string }>(key: string, nodes: readonly T[]): readonly T[] => {
  const subject = drawOf(key, 0)
  return nodes
    .map((each) => ({ each, drawn: drawOf(each.node, subject) }))
    .toSorted((a, b) => b.drawn - a.drawn || (a.each.node < b.each.node ? -1 : 1))
    .map(({ each }) => each)
}
