import { type Emission, maxPerEvent } from './index.ts'

/** Text of an effect: `cuts` are the lengths of the pieces in which it was streamed (`LogEvent.cuts`). */
export interface StreamedText {
  readonly delta: string
  readonly cuts?: readonly number[]
}

/** The events for text that an effect adds, each with what one of them may have; none for ''. */
export const textEvents = (
  { delta, cuts = [] }: StreamedText,
  eventOf: (delta: string) => Emission,
): readonly Emission[] => {
  if (delta === '') return []
  const events: Emission[] = []
  let from = 0
  for (const group of groupsOf(cuts.length === 0 ? [delta.length] : cuts)) {
    const length = group.reduce((sum, each) => sum + each, 0)
    const event = eventOf(delta.slice(from, from + length))
    events.push(group.length > 1 ? { ...event, cuts: group } : event)
    from += length
  }
  return events
}

const groupsOf = (cuts: readonly number[]): readonly (readonly number[])[] => {
  const groups: number[][] = []
  let length = 0
  for (const cut of cuts) {
    const group = groups.at(-1)
    length += cut
    if (group !== undefined && length <= maxPerEvent) group.push(cut)
    else {
      groups.push([cut])
      length = cut
    }
  }
  return groups
}
