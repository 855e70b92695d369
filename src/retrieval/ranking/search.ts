import type { Concept } from '../analysis/analysis.ts'
import { refersBack } from '../analysis/statement-kind.ts'
import type { LeftOut, PassageHit, PassageHits, PassageQuery } from '../passage-query.ts'
import type { SearchBuffers } from '../search-buffers.ts'
import { referringBack, weightsFor } from './brevity.ts'
import { cosinesOf, type Work } from './cosines.ts'
import { fitOf, momentsOf } from './dates.ts'
import { diversifyByPage } from './diversify-by-page.ts'
import { liftByKind } from './kind-lift.ts'
import { type LexicalScores, lexicalScores } from './lexical.ts'
import { weighedBy } from './lexicon.ts'
import { neededVectors } from './needed-vectors.ts'
import { Pause } from './pause.ts'
import { type AllScores, type Parts, Scores, type Searched } from './scores.ts'
import { shortnessOf } from './weights.ts'

const noTitles: Parts['titles'] = new Map()
/** Maximum number of left-out passages listed. */
const maxLeftOut = 20
/** Minimum number of best passages that are compared by date. */
const minCompared = 10
/** Number of memories that are read together with the question. */
const maxRead = 16
/** A passage that amends an older one must have at least this share of the question's words that the older one has. */
const amendedWords = 0.5

/** One search in an index. */
export class Search {
  readonly #in: Searched
  readonly #query: PassageQuery
  readonly #pause: Pause
  readonly #stamp: number
  readonly #extent: number
  readonly #buffers: SearchBuffers
  /** 1 for each slot whose passage may be found. */
  readonly #allowed: Uint8Array

  constructor(searched: Searched, query: PassageQuery, buffers: SearchBuffers) {
    const weights = weightsFor(searched.weights, searched.table.averageLength)
    const isBack = weights.replyBack > 0 && refersBack(query.text)
    this.#in = { ...searched, weights: isBack ? referringBack(weights) : weights }
    this.#query = query
    this.#pause = new Pause(query.signal)
    this.#stamp = searched.table.stamp
    this.#extent = searched.table.extent
    this.#buffers = buffers
    this.#allowed = buffers.flags(this.#extent)
  }

  async run(concepts: readonly Concept[]): Promise<PassageHits> {
    const { table, postings, weights, corpus } = this.#in
    const [buffers, pause, allowed] = [this.#buffers, this.#pause, this.#allowed]
    table.groups.sort()
    const candidates = await this.#allow()
    if (candidates === 0 || this.#query.limit < 1) return { hits: [], abstained: true, ...this.#leftOut([]) }
    const lexical = await lexicalScores(
      { postings, table, weights, allowed, weighed: weighedBy(corpus, this.#in) },
      concepts,
      { pause, buffers },
    )
    const titles = weights.title === 0 ? noTitles : table.groups.titles.fitsOf(this.#query.text, concepts)
    const plain = this.#plain(lexical, titles)
    const work = { pause, buffers, allowed }
    const stored = (await this.#query.stored?.(this.#needed(plain, work))) ?? null
    const cosines = await cosinesOf(this.#in, { ...this.#query, stored }, work)
    const parts: Parts = { lexical, cosines, others: this.#others(), titles }
    const all = { ...parts, ...this.#fused(plain, parts, concepts) }
    const { vector, embedder = null, background: known = null } = this.#query
    const background = known?.isUsable === true ? known : null
    const compared = { vector, embedder, background, stored: stored?.vector ?? null }
    return await this.#answer(new Scores(this.#in, all, { allowed, size: candidates, compared }))
  }

  async #allow(): Promise<number> {
    const { table } = this.#in
    const { accepts, doubtful } = this.#query
    const each = doubtful === undefined ? accepts : undefined
    let count = 0
    for (let slot = 0; slot < this.#extent; slot++) {
      if (!table.isLive(slot) || each?.(table.idOf(slot) ?? '') === false) continue
      this.#allowed[slot] = 1
      count++
      if (slot % 1024 === 0 && this.#pause.due()) await this.#pause.turn()
    }
    const { acceptsDocument } = this.#query
    if (acceptsDocument !== undefined) count -= table.forbid(this.#allowed, acceptsDocument)
    return doubtful === undefined || accepts === undefined ? count : count - this.#refused(doubtful, accepts)
  }

  #refused(doubtful: ReadonlySet<string>, accepts: (id: string) => boolean): number {
    let count = 0
    for (const id of doubtful) {
      const slot = this.#in.table.slotOf(id)
      if (this.#allowed[slot] !== 1 || accepts(id)) continue
      this.#allowed[slot] = 0
      count++
    }
    return count
  }

  /**
   * Returns 1 for each passage said by someone other than the one person named in the question; null when it names
   * none.
   */
  #others(): Uint8Array | null {
    const { table, weights } = this.#in
    const person = weights.otherPerson === 1 ? -1 : table.speakers.namedIn(this.#query.text)
    if (person === -1) return null
    const others = this.#buffers.flags(this.#extent)
    for (let slot = 0; slot < this.#extent; slot++) {
      const speaker = table.speakerOf(slot)
      if (speaker !== -1 && speaker !== person) others[slot] = 1
    }
    return others
  }

  /** Uses plain loops over arrays, since a search spends most of its time here. */
  #fused(
    plain: Float32Array,
    { lexical, cosines, others }: Parts,
    concepts: readonly Concept[],
  ): Pick<AllScores, 'fused' | 'rival'> {
    const { weights } = this.#in
    const allowed = this.#allowed
    const fused = cosines === null || others === null ? plain : this.#copy(plain)
    if (cosines !== null) {
      this.#raiseUnembedded(fused)
      this.#addRange(fused, cosines.paged, { weight: weights.vector })
      this.#addRange(fused, cosines.window, { weight: weights.window })
      if (cosines.topic !== null) this.#addRange(fused, cosines.topic, { weight: weights.topic })
    }
    const rival = others === null ? 0 : this.#heldBack(fused, plain, others)
    liftByKind(this.#query.text, this.#in, { concepts, scores: fused, found: lexical.found, allowed })
    return { fused: this.#besides(fused), rival }
  }

  /** Gives the words of a memory that has no vector yet the weight that words and vector have together. */
  #raiseUnembedded(fused: Float32Array): void {
    const { vectors, table, weights } = this.#in
    if (weights.calibration !== 'memory' || vectors.size === table.size) return
    const factor = 1 + (weights.vector + weights.window) / weights.lexical
    for (let slot = 0; slot < fused.length; slot++) if (!vectors.has(slot)) fused[slot] = (fused[slot] ?? 0) * factor
  }

  /** Returns scores by words and priors. Whether another person said something is judged by these, without vectors. */
  #plain(lexical: LexicalScores, titles: Parts['titles']): Float32Array {
    const plain = this.#prior(lexical, titles)
    this.#addRange(plain, lexical.scores, { weight: this.#in.weights.lexical, min: 0 })
    return plain
  }

  /** Returns the passages whose stored vectors are needed. */
  #needed(plain: Float32Array, work: Work): readonly string[] {
    return [...neededVectors(this.#in, this.#query, { plain, work })].flatMap((slot) => this.#in.table.idOf(slot) ?? [])
  }

  #copy(numbers: Float32Array): Float32Array {
    const copy = this.#buffers.floats(numbers.length)
    copy.set(numbers)
    return copy
  }

  /**
   * Lowers the scores in `fused` of passages said by others than the named person. Returns the best score of others,
   * relative to the best of that person.
   */
  #heldBack(fused: Float32Array, plain: Float32Array, others: Uint8Array): number {
    const { otherPerson } = this.#in.weights
    let [mine, theirs] = [0, 0]
    for (let slot = 0; slot < plain.length; slot++) {
      if (this.#allowed[slot] === 0) continue
      const score = plain[slot] ?? 0
      if (others[slot] === 1) {
        if (score > theirs) theirs = score
        fused[slot] = (fused[slot] ?? 0) * otherPerson
      } else if (score > mine) mine = score
    }
    return mine === 0 ? 0 : theirs / mine
  }

  /** Returns a prior for each passage from the words of its group, the group's title and the passage's time. */
  #prior({ groups: scores }: LexicalScores, titles: Parts['titles']): Float32Array {
    const { table, weights } = this.#in
    const { groups } = table
    const prior = this.#buffers.floats(this.#extent)
    let max = 0
    for (let group = 0; group < scores.length; group++) max = Math.max(max, scores[group] ?? 0)
    const moments = weights.time === 0 ? [] : momentsOf(this.#query.text, this.#query.now)
    if (max === 0 && moments.length === 0 && titles.size === 0) return prior
    const shares = this.#buffers.floats(scores.length)
    for (let group = 0; group < scores.length; group++) {
      if (max === 0 || groups.sizeOf(group) < weights.minGroup) continue
      shares[group] = (weights.group * (scores[group] ?? 0)) / max
    }
    for (const [group, fit] of titles) {
      const less = (weights.title - weights.titleShort) * shortnessOf(groups.sizeOf(group))
      shares[group] = (shares[group] ?? 0) + (weights.title - less) * fit
    }
    for (let slot = 0; slot < this.#extent; slot++) {
      if (this.#allowed[slot] === 0) continue
      const fit = moments.length === 0 ? 0 : weights.time * fitOf(moments, table.atOf(slot))
      prior[slot] = fit + (shares[groups.numberOf(slot)] ?? 0)
    }
    return prior
  }

  /**
   * Adds a share of the better neighbour's score: an answer is often next to the passage that has the question's words.
   */
  #besides(scores: Float32Array): Float32Array {
    const { table, weights } = this.#in
    const share = weights.neighbour
    if (share === 0 || table.groups.size === 0) return scores
    const { groups } = table
    const sums = this.#buffers.floats(this.#extent)
    for (let slot = 0; slot < this.#extent; slot++) {
      if (this.#allowed[slot] === 0) continue
      const before = scores[groups.before(slot)] ?? 0
      const after = scores[groups.after(slot)] ?? 0
      sums[slot] = (scores[slot] ?? 0) + share * (before > after ? before : after)
    }
    return sums
  }

  /** Adds each value, normalised to 0..1 over the passages that may be found, times the weight. */
  #addRange(
    sums: Float32Array,
    values: Float32Array,
    { weight, min = Number.POSITIVE_INFINITY }: { readonly weight: number; readonly min?: number },
  ): void {
    const allowed = this.#allowed
    let low = min
    let high = Number.NEGATIVE_INFINITY
    for (let slot = 0; slot < values.length; slot++) {
      const value = values[slot] ?? 0
      if (allowed[slot] === 0) continue
      if (value < low) low = value
      if (value > high) high = value
    }
    if (weight === 0 || high <= low) return
    const scale = weight / (high - low)
    for (let slot = 0; slot < values.length; slot++) {
      if (allowed[slot] === 1) sums[slot] = (sums[slot] ?? 0) + scale * ((values[slot] ?? 0) - low)
    }
  }

  async #answer(scores: Scores): Promise<PassageHits> {
    const { limit, threshold = 0, explain = false } = this.#query
    const count = Math.max(limit, minCompared) + (explain ? maxLeftOut : 0)
    const { table, weights } = this.#in
    const { again, againShort } = weights
    const best = diversifyByPage(scores.fused, { table, again, againShort, count })
    const close = weights.calibration === 'memory' ? await this.#inOrder(scores, best, count) : best
    const ranked = this.#newerFirst(
      close.filter((slot) => this.#isStill(slot)),
      scores,
    )
    const hits: PassageHit[] = []
    const left: LeftOut[] = []
    for (const slot of ranked) {
      const id = table.idOf(slot) ?? ''
      const score = scores.calibrated(slot)
      if (score < threshold) left.push({ id, score, reason: 'below_threshold' })
      else if (hits.length === limit) left.push({ id, score, reason: 'beyond_limit' })
      else hits.push({ id, score, byWords: scores.words(slot) > 0, ...(explain && { parts: scores.parts(slot) }) })
    }
    return { hits, abstained: hits.length === 0, ...this.#leftOut(left) }
  }

  /** Returns memories in the order of their scores, after the best of them have been read. */
  async #inOrder(scores: Scores, best: readonly number[], count: number): Promise<readonly number[]> {
    const { read } = this.#query
    if (read === undefined) return scores.inOrder(best, count)
    const { table } = this.#in
    const nearest = scores.inOrder(best, Math.max(count, maxRead)).filter((slot) => this.#isStill(slot))
    const ids = nearest.slice(0, maxRead).flatMap((slot) => table.idOf(slot) ?? [])
    const odds = await read(ids)
    const bySlot = new Map([...odds].map(([id, each]) => [table.slotOf(id), each]))
    if (odds.size > 0) scores.setRead(bySlot, odds.size === ids.length)
    return scores.inOrder(best, count)
  }

  /** Moves a newer passage before an older one that matches the question no better. */
  #newerFirst(ranked: readonly number[], scores: Scores): readonly number[] {
    const { newer, amended } = this.#in.weights
    if (newer >= 1) return ranked
    const { fused, words, shared } = scores
    const { atOf, amends } = this.#in.table
    const replaces = (slot: number, other: number): boolean => {
      const [own, others] = [fused[slot] ?? 0, fused[other] ?? 0]
      if (scores.isAsGood(slot, other, newer) && words(slot) >= words(other)) return true
      const common = shared(slot, other)
      return amends(slot) && own >= amended * others && common > 0 && common >= amendedWords * words(other)
    }
    const order: number[] = []
    for (const slot of ranked) {
      const older = order.findIndex((other) => atOf(slot) > atOf(other) && replaces(slot, other))
      order.splice(older === -1 ? order.length : older, 0, slot)
    }
    return order
  }

  /** Whether the slot still holds the passage it held when the search began. */
  #isStill(slot: number): boolean {
    const { table } = this.#in
    return this.#allowed[slot] === 1 && table.idOf(slot) !== null && table.stampOf(slot) <= this.#stamp
  }

  #leftOut(left: readonly LeftOut[]): { readonly left_out?: readonly LeftOut[] } {
    return this.#query.explain === true ? { left_out: left.slice(0, maxLeftOut) } : {}
  }
}
