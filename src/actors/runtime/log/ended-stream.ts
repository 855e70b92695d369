import type { FlightsInProgress } from '#machines/pending.ts'
import type { Json } from '#storage/ports.ts'
import { isObject } from '../schema.ts'

/** An effect that has ended, and the range of commits that contain its parts. */
export interface EndedStream {
  readonly actor: string
  readonly effect: string
  /** `seq` of the commit that declared the effect. */
  readonly after: number
  /** `seq` of the commit that ended it. */
  readonly before: number
}

/**
 * Returns the effects that a commit ended and that had journaled more than one part, without those of which the commit
 * has removed all parts.
 */
export const endedStreamsOf = (
  { actor, seq, removed }: { readonly actor: string; readonly seq: number; readonly removed: number },
  before: FlightsInProgress,
  left: FlightsInProgress,
): readonly EndedStream[] => {
  const ended: EndedStream[] = []
  for (const effect in before) {
    const { progress = 0 } = before[effect] ?? {}
    if (effect in left || progress < 2 || progress === removed) continue
    ended.push({ actor, effect, after: declaredAt(actor, effect), before: seq })
  }
  return ended
}

/** An effect's id is `<actor>:<seq>:<n>`. */
const declaredAt = (actor: string, effect: string): number => Number.parseInt(effect.slice(actor.length + 1), 10) || 0

/** Whether a stored value is an `EndedStream`. */
export const isEndedStream = (value: Json): value is Json & EndedStream =>
  isObject(value) &&
  typeof value.actor === 'string' &&
  typeof value.effect === 'string' &&
  typeof value.after === 'number' &&
  typeof value.before === 'number'
