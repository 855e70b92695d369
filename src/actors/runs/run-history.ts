import { invalidField } from '#specs/errors/invalid-field.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import { Conversation } from '../sessions/conversation.ts'
import type { ReadLog } from '../sessions/conversations.ts'
import { maxForkLength } from '../sessions/fork-history.ts'
import { asTurn, promptOf } from './run-conversation.ts'

/**
 * What a run knows after one of its events, as the state of a conversation in JSON, in which `input` takes the place of
 * its task: a new run goes on from there. Its tools of that part do not run again.
 *
 * @throws {ServiceError} `invalid_field` when the log has no such event, when a tool call has no output there, or when
 * the texts are too long for one commit; {StoreUnavailable}
 */
export const historyUpTo = async (
  readLog: ReadLog,
  run: string,
  { after, input }: { readonly after: number; readonly input: JsonObject },
): Promise<string> => {
  const events = await eventsTo(readLog, run, after)
  if (events.at(-1)?.sequence !== after) throw invalidField('after_sequence', 'The log of the run has no such event.')
  const conversation = new Conversation()
  conversation.apply(asTurn(events))
  const { open } = conversation.state
  const isOpen = open.calls.some(({ callId }) => open.outputs[callId] === undefined)
  if (isOpen) throw invalidField('after_sequence', 'A tool call has no output after this event.')
  // the answer after the last calls is given again
  const [, ...steps] = conversation.forModel()
  const state = JSON.stringify({
    through: 0,
    messages: [{ role: 'user', content: promptOf(input) }, ...steps],
    open: { text: '', calls: [], outputs: {} },
  })
  if (state.length > maxForkLength) throw invalidField('after_sequence', 'What was said until there is too long.')
  return state
}

const eventsTo = async (readLog: ReadLog, run: string, last: number): Promise<readonly LogEvent[]> => {
  const found: LogEvent[] = []
  for (let after = 0; after < last; ) {
    const events = await readLog(run, after)
    if (events.length === 0) break
    found.push(...events.filter(({ sequence }) => sequence <= last))
    after = events.at(-1)?.sequence ?? last
  }
  return found
}
