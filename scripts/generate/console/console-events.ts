import { sessionEvents, streamNames } from '#specs/events/events.ts'
import { runEvents } from '#specs/events/run-events.ts'
import type { GeneratedFile } from '../generated-file.ts'

/** Events of actors whose logs have no declared stream: deliveries of webhooks, sources of knowledge. */
const ofOthers = ['delivery.attempted', 'source.synced', 'source.unchanged', 'source.sync_failed']

const head = `/**
 * Events that an EventSource listens to by name, as sent by the server. Made from the declarations by \`npm run generate\`.
 * An event that is missing here shows up as a gap in the sequence and is read from the log.
 */
export const eventNames = [
`

/** `console/event-names.ts`: the names of the events of logs on streams. */
export const consoleEvents = (): GeneratedFile => {
  const names = [...Object.keys(sessionEvents), ...Object.keys(runEvents), ...ofOthers]
  const lines = names.map((name) => `  '${streamNames[name] ?? name}',\n`)
  return { path: 'console/event-names.ts', text: `${head}${lines.join('')}]\n` }
}
