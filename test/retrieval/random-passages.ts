import type { Passage } from '#retrieval/passage.ts'

/** Random numbers from 0 to 1 that are reproducible by a seed. */
export const chanceOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const stems = Array.from({ length: 90 }, (_, n) => `w${n.toString(36)}x`)
const others = [
  'café',
  'Straße',
  '北京大学',
  'ภาษาไทย',
  'constructor',
  '__proto__',
  '1e400',
  '😀',
  'Lisbon',
  'always',
  'changed',
]
const names = [null, 'Ann', 'Bob', 'Cleo']

/** A text with this number of words; the first words of the list are frequent and the last ones rare. */
export const randomText = (chance: () => number, words: number): string => {
  const all = [...stems, ...others]
  return Array.from({ length: words }, () => all[Math.floor(chance() ** 2 * all.length)]).join(' ')
}

/** Passages in groups with several speakers; some have a vector. */
export const randomPassages = (chance: () => number, count: number): readonly Passage[] =>
  Array.from({ length: count }, (_, n) => {
    const vector = chance() < 0.7 ? Float32Array.from({ length: 8 }, () => chance() - 0.5) : null
    return {
      ...{ id: `p${n}`, text: randomText(chance, 1 + Math.floor(chance() * 20)), vector },
      ...{ group: chance() < 0.3 ? null : `g${Math.floor(chance() * 9)}`, order: n, at: n * 3_600_000 },
      speaker: names[Math.floor(chance() * names.length)] ?? null,
    }
  })
