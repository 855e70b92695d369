import { decideReply } from '#gateway/simulated/reply.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

/** The full answer of the simulated model to an input without tools. */
export const answerTo = (input: string): string => {
  const reply = atOnce(decideReply({ messages: [{ role: 'user', content: input }] }, [], ''))
  if (reply.kind !== 'answer') throw new Error(`the simulated model refuses: ${input}`)
  return reply.text
}
