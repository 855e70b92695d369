import type { Embedder } from '#retrieval/index.ts'
import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'
import { ownerPath, type ParseOwner } from '#src/parsing/parse-owner.ts'
import type { Passage, SkillFinding } from '#src/skill-scan/index.ts'

/** Passages of one request: what the model's process reads in less than a quarter of a second. */
const atOnce = 8
/** Time in ms after which no further passage is read or waited for: the longest skill takes six seconds of an idle processor. */
const patienceMs = 60_000
/** Findings of one skill at most; the likeliest. */
const maxFound = 20

/** Passages of a skill, and whether they are all of it. */
interface Reading {
  readonly passages: readonly Passage[]
  readonly isWhole: boolean
}

interface ReadPassage extends Passage {
  readonly odds: number
}

const page = 'SKILL.md'

const message =
  'The lines read like ones by which an agent would act against the one it works for: send data away, skip a consent, hide or falsify something, take down a protection, or serve somebody else.'

/**
 * Has passages of skills read by the model of this machine that was trained on such (specs/decisions/0157-skills.md). It finds what
 * rules do not: harm in words of its own.
 */
export class SkillReader {
  readonly #embedder: Pick<Embedder, 'suspect'> | null
  /** One request at a time: between two of them the model's process embeds memories and documents, which wait for both. */
  readonly #turns = new FairSemaphore<ParseOwner>({ path: ownerPath, running: [1] })

  readonly #patienceMs: number

  constructor(embedder: Pick<Embedder, 'suspect'> | null, patience = patienceMs) {
    this.#embedder = embedder
    this.#patienceMs = patience
  }

  /** Returns what is found in passages, or that they were not read, or not all of them. */
  async findings({ passages, isWhole }: Reading, owner: ParseOwner): Promise<readonly SkillFinding[]> {
    const odds = await this.#odds(passages, owner)
    if (odds === null) return [about('info', 'not_read', 'No model has read the skill; rules alone have judged it.')]
    const read = passages.slice(0, odds.length).map((passage, at) => ({ ...passage, odds: odds[at] ?? 0 }))
    return [...suspectedIn(read), ...unread({ passages, isWhole }, odds.length)]
  }

  /** Returns the odds of as many of the first passages as could be read; null when no model can. */
  async #odds(passages: readonly Passage[], owner: ParseOwner): Promise<readonly number[] | null> {
    const signal = AbortSignal.timeout(this.#patienceMs)
    const odds: number[] = []
    while (odds.length < passages.length && !signal.aborted) {
      const texts = passages.slice(odds.length, odds.length + atOnce).map(({ text }) => text)
      const suspect = async () => (await this.#embedder?.suspect?.(texts).catch(() => null)) ?? null
      const read = await this.#turns.run(owner, suspect, signal).catch(() => [])
      if (read === null) return odds.length === 0 ? null : odds
      odds.push(...read)
    }
    return odds
  }
}

const about = (severity: SkillFinding['severity'], code: string, message: string): SkillFinding => ({
  ...{ severity, code, path: page, line: 1, message },
})

/** Returns the likeliest of the passages that are suspected. */
const suspectedIn = (read: readonly ReadPassage[]): readonly SkillFinding[] =>
  read
    .filter(({ odds }) => odds > 0)
    .sort((one, other) => other.odds - one.odds)
    .slice(0, maxFound)
    .map(({ path, line }) => ({ severity: 'blocker', code: 'suspected_harm', path, line, message }) as const)

/**
 * Returns that not all was read. A page that is longer than what is read is a blocker, since an author may fill it up in front of what is
 * not to be read; none of 3,000 published ones is.
 */
const unread = ({ passages, isWhole }: Reading, count: number): readonly SkillFinding[] => {
  if (isWhole && count === passages.length) return []
  const isPageCut = !isWhole && passages.at(-1)?.path === page
  return [
    about(isPageCut ? 'blocker' : 'warning', 'read_incomplete', 'The model has read only the beginning of the skill.'),
  ]
}
