import type { Pause } from '#retrieval/index.ts'
import { derivedId, newId, timeOfId } from '../runtime/index.ts'
import { restored } from './import/exported-memory.ts'
import { contentKey } from './indexes/content-key.ts'
import { closedAll, type EndedMemory, endedBy, settledFacts } from './indexes/settled-facts.ts'
import { holdingParts, states, wordsIn } from './indexes/superseded-parts.ts'
import { factKey, mayClose, type UserMemoryIndex } from './indexes/user-memory-index.ts'
import type { FactData, MemoryData, MemoryFlag } from './kinds.ts'
import { type MemoryOwner, ownerKey } from './memory-owner.ts'
import type { MemorySettings } from './memory-settings.ts'
import type { NewMemory, WriteOptions, WrittenMemory } from './memory-writer.ts'
import { factsIn, flaggedAs, isSameFact } from './understanding.ts'
import type { UpdatedMemory } from './writes/updated-memories.ts'

/** A memory that passed the screening. */
export type PassedMemory = NewMemory & { readonly redacted: readonly string[]; readonly flags: readonly MemoryFlag[] }

/** A memory to be stored. */
export interface DraftMemory {
  readonly id: string
  readonly key: string
  readonly data: MemoryData
  readonly expiresAt: number | null
}

const dayMs = 86_400_000

/** Circumstances of one write. */
export interface BatchParts {
  readonly owner: MemoryOwner
  readonly options: WriteOptions
  readonly retentionDays: MemorySettings['retentionDays']
  readonly now: number
  readonly pause: Pause
}

/** The memories of one write, each compared with the stored ones and with those before it. */
export class MemoryBatch {
  readonly drafts: DraftMemory[] = []
  readonly written: WrittenMemory[] = []
  readonly ended = new Map<string, EndedMemory>()
  readonly #index: UserMemoryIndex
  readonly #parts: BatchParts
  readonly #keys = new Map<string, string>()
  /** Places of the drafts that have facts with a `factKey`. */
  readonly #byFact = new Map<string, number[]>()
  /** The part of `#byFact` whose facts may end others. */
  readonly #byClosingFact = new Map<string, number[]>()

  constructor(index: UserMemoryIndex, parts: BatchParts) {
    this.#index = index
    this.#parts = parts
  }

  /** @param updated finds the older memory that this one updates, where no fact does. */
  async add(item: PassedMemory, updated: () => Promise<UpdatedMemory | null> = async () => null): Promise<void> {
    if (this.#parts.pause.due()) await this.#parts.pause.turn()
    const key = contentKey(item.place, item.content)
    const id = this.#newId(key)
    const stated = await this.#factsOf(item)
    const same = this.#keys.get(key)
    const stored = same ?? this.#index.twin(key)
    const twin = stored ?? (item.byFacts === true ? await this.#sayer(stated) : undefined)
    if (twin !== undefined && (twin !== id || same !== undefined)) {
      this.written.push({ id: twin, duplicate: true, redacted: item.redacted, flags: item.flags, superseded: [] })
      return
    }
    const settled = await settledFacts(this.#index, stated, this.#parts.pause)
    const superseded = [...settled.ended.keys()].filter((known) => known !== id)
    for (const known of superseded) this.ended.set(known, { facts: settled.ended.get(known) ?? [], by: id })
    const update = settled.ended.size === 0 ? await updated() : null
    superseded.push(...this.#update(id, item, update))
    const facts = await this.#besideDrafts(settled.facts, id)
    this.#keys.set(key, id)
    this.#note(facts)
    const held = { ...this.#dataOf(item, stated), ...doubtOf(update) }
    const data = settled.by === null ? { ...held, facts } : endedBy(held, { facts, by: settled.by })
    this.drafts.push({ id, key, data, expiresAt: this.#expiryOf(item) })
    this.written.push({ id, duplicate: false, redacted: item.redacted, flags: item.flags, superseded })
  }

  /** Restores what had been superseded in imported memories. @param items all that were added, in order. */
  restore(items: readonly Pick<NewMemory, 'exported'>[]): void {
    const ids = new Map<string, string>()
    for (const [at, { exported }] of items.entries()) {
      const id = this.written[at]?.id
      if (exported?.id && id !== undefined) ids.set(exported.id, id)
    }
    const byId = new Map(items.map(({ exported }, at) => [this.written[at]?.id, exported]))
    for (const [at, draft] of this.drafts.entries()) {
      const exported = byId.get(draft.id)
      if (exported !== undefined) this.drafts[at] = { ...draft, data: restored(draft.data, exported, ids) }
    }
  }

  /** Ends the parts of an older memory that the memory `id` updates. */
  #update(id: string, item: PassedMemory, updated: UpdatedMemory | null): readonly string[] {
    if (updated === null || updated.parts.length === 0 || updated.row.id === id || this.ended.has(updated.row.id))
      return []
    const { row, parts } = updated
    const end = item.validFrom ?? item.observedAt ?? this.#parts.now
    const ended = parts.map((text) => ({ text, valid_to_ms: end, by: id }))
    this.ended.set(row.id, {
      facts: factsWithin({ row, parts, end }),
      by: id,
      parts: ended,
    })
    return [row.id]
  }

  /** Returns the id of a memory that already states all of these facts. */
  async #sayer(facts: readonly FactData[]): Promise<string | undefined> {
    const [first] = facts
    if (first === undefined) return undefined
    for (const { id, facts: theirs } of this.#index.about(factKey(first.subject, first.relation))) {
      const held = theirs.filter(({ valid_to_ms, ended }) => valid_to_ms === null || ended)
      if (facts.every((fact) => held.some((each) => isSameFact(each, fact)))) return id
      if (this.#parts.pause.due()) await this.#parts.pause.turn()
    }
    return undefined
  }

  /** Reconciles the facts of the memory `id` with those of earlier memories of this write. */
  async #besideDrafts(facts: readonly FactData[], id: string): Promise<readonly FactData[]> {
    const { pause } = this.#parts
    let settled = facts
    for (const at of this.#related(facts)) {
      const draft = this.drafts[at]
      if (draft === undefined) continue
      const theirs = closedAll(draft.data.facts, settled)
      settled = closedAll(settled, theirs)
      if (theirs !== draft.data.facts)
        this.drafts[at] = { ...draft, data: endedBy(draft.data, { facts: theirs, by: id }) }
      if (pause.due()) await pause.turn()
    }
    return settled
  }

  /** Returns the drafts whose facts the given ones may end, or that may end one of these, in order. */
  #related(facts: readonly FactData[]): readonly number[] {
    const places = facts.flatMap((fact) => {
      const map = mayClose(fact) ? this.#byFact : this.#byClosingFact
      return map.get(factKey(fact.subject, fact.relation)) ?? []
    })
    return [...new Set(places)].toSorted((a, b) => a - b)
  }

  /** Notes the facts of the next draft. */
  #note(facts: readonly FactData[]): void {
    for (const fact of facts) {
      const key = factKey(fact.subject, fact.relation)
      for (const map of mayClose(fact) ? [this.#byFact, this.#byClosingFact] : [this.#byFact]) {
        const places = map.get(key) ?? []
        map.set(key, places)
        if (places.at(-1) !== this.drafts.length) places.push(this.drafts.length)
      }
    }
  }

  /** The id follows from the content, not from its place: a repeated write may find more or fewer memories than the first. */
  #newId(key: string): string {
    const { seed } = this.#parts.options
    return seed === null ? newId('mem') : derivedId('mem', timeOfId(`mem_${seed}`) ?? 1, `${seed} ${key}`)
  }

  async #factsOf(item: PassedMemory): Promise<readonly FactData[]> {
    const observedAt = item.observedAt ?? this.#parts.now
    const given = item.facts ?? []
    // what is suspected of instructing a model may end no memory either
    if (item.byFacts === true || item.flags.length > 0) return given
    const found = (await factsIn(item.content, { observedAt, speaker: item.speaker ?? null })).map(impliedFact)
    const { pause } = this.#parts
    const all = [...given]
    for (const fact of found) {
      if (!given.some((each) => isSameFact(each, fact))) all.push(fact)
      if (pause.due()) await pause.turn()
    }
    return all
  }

  #expiryOf({ place }: PassedMemory): number | null {
    const days = this.#parts.retentionDays[place.scope]
    return days === null ? null : this.#parts.now + days * dayMs
  }

  #dataOf(item: PassedMemory, facts: readonly FactData[]): MemoryData {
    const { owner, options, now } = this.#parts
    return {
      owner: ownerKey(owner),
      content: item.content,
      scope: item.place.scope,
      session_id: item.place.session,
      namespace: item.place.namespace,
      importance: item.importance ?? 0.5,
      pinned: item.pinned ?? false,
      metadata: item.metadata ?? {},
      source: options.source,
      speaker: item.speaker ?? null,
      receipt: options.receipt ?? null,
      redacted: item.redacted,
      facts,
      observed_at_ms: item.observedAt ?? now,
      valid_from_ms: item.validFrom ?? null,
      valid_to_ms: item.validTo ?? null,
      superseded_by: null,
      ...flaggedAs(item.flags),
      ...{ embedder: null, vector: null, used_at_ms: null, versions: [] },
    }
  }
}

/** Facts that rules find in a content that is stored verbatim only serve to notice what it supersedes. */
const impliedFact = (fact: FactData): FactData => ({ ...fact, implied: true })

/** Returns the field of a memory that may supersede an older one. */
const doubtOf = (update: UpdatedMemory | null): Pick<MemoryData, 'doubts'> =>
  update === null || update.parts.length > 0 ? {} : { doubts: update.row.id }

/** Returns the facts of a memory, of which those end that its superseded parts state. */
const factsWithin = ({ row, parts, end }: UpdatedMemory & { readonly end: number }): readonly FactData[] => {
  const isWhole = parts.length >= holdingParts(row.data).length
  const words = parts.map(wordsIn)
  return row.data.facts.map((fact) => {
    const object = wordsIn(fact.object)
    const isOver = fact.valid_to_ms === null && (isWhole || words.some((each) => states(each, object)))
    return isOver ? { ...fact, valid_to_ms: Math.max(end, fact.valid_from_ms) } : fact
  })
}
