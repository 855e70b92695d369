import { streamedEvents } from '#specs/events/events.ts'
import type { GeneratedFile } from './generated-file.ts'
import { TypeTexts } from './type-text.ts'

/** Types that other files of the client use too. */
const exported = ['RequiredConnection', 'RequiredInput', 'TurnError', 'TurnUsage', 'UrlCitation']

/** `packages/client/src/events.ts`: the events of a session's log as one union, which a `switch` exhausts. */
export const clientEvents = (): GeneratedFile => {
  const types = new TypeTexts()
  const members = Object.entries(streamedEvents).map(
    ([name, { json }]) =>
      `  | { readonly event: '${name}'; readonly id: number; readonly data: ${types.of(json, 'answer')} }`,
  )
  const text = [
    '/* Made from the declarations by `npm run generate`; not to be edited. */',
    '',
    '/** An event of a session. `id` is its sequence number in the log; an event that is in no log has 0. */',
    'export type SessionEvent =',
    ...members,
    '',
    types.declarations(exported),
  ].join('\n')
  return { path: 'packages/client/src/events.ts', text }
}
