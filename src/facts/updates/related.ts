/** A statement that an update may be about, and what speaks for that. */
export interface Related {
  /** Cosine of both texts; null without vectors. */
  readonly cosine: number | null
  /** Weight of the words that both have: rare ones weigh more. */
  readonly shared: number
}

/** Cosines from which texts of an embedder are related; families differ in how close unrelated texts are. */
const relatedFrom = (embedder: string | null): number => (/e5/i.test(embedder ?? '') ? 0.825 : 0.45)

/** Number of statements up to which one that is related is taken for the one that is meant. */
const few = 8

/** Weight of shared words in units of a cosine, and the distance from the next candidate that decides among many. */
const [wordWeight, distance, wordsAlone] = [0.005, 0.04, 3]

/** Words without a topic of their own. */
const empty: ReadonlySet<string> = new Set(
  'the and for with that this have been from they their there what when then than into over just still more most some very much only after before because about would could should which where while your mine ours being does doing done them those these other every each both since until last next week month year years time day days morning today now new old got get had has his her him she its was were are our out all any can not but one two three und der die das ich mit ein eine bin ist habe el la los las un una con que por para mi es les des une mon est avec je que um uma com meu minha não il lo gli un una con mio mia che non'.split(
    ' ',
  ),
)

/** Returns the beginnings of the words of a text that have a topic. */
export const topicWords = (text: string): ReadonlySet<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]{3,}/gu) ?? [])
      .filter((word) => !empty.has(word))
      .map((word) => word.slice(0, 6)),
  )

/**
 * Returns the place of the statement that an update is about; null when none stands out. Among few statements, one that is
 * related is enough; among many, it must be clearly closer than the next.
 */
export const meantOf = (candidates: readonly Related[], embedder: string | null): number | null => {
  const strength = ({ cosine, shared }: Related): number => (cosine ?? 0) + wordWeight * shared
  const order = [...candidates.keys()].toSorted((a, b) => strengthAt(b) - strengthAt(a))
  function strengthAt(place: number): number {
    const candidate = candidates[place]
    return candidate === undefined ? 0 : strength(candidate)
  }
  const [first, second] = order
  const best = first === undefined ? undefined : candidates[first]
  if (first === undefined || best === undefined) return null
  const isRelated = best.cosine === null ? best.shared > 0 : best.cosine >= relatedFrom(embedder)
  if (!isRelated) return null
  if (candidates.length <= few) return first
  const margin = strengthAt(first) - (second === undefined ? 0 : strengthAt(second))
  return margin >= (best.cosine === null ? wordWeight * wordsAlone : distance) ? first : null
}

/** What speaks for the latest statement as the one that is corrected, in units of a cosine. */
const latestWeight = 0.03

/** Returns the place of the statement that a correction is about, of the latest ones in order: the last, unless another is clearly closer. */
export const correctedOf = (candidates: readonly Related[]): number | null => {
  const strengths = candidates.map(
    ({ cosine, shared }, place) => (cosine ?? 0) + wordWeight * shared + (place === 0 ? latestWeight : 0),
  )
  return strengths.length === 0 ? null : strengths.indexOf(Math.max(...strengths))
}
