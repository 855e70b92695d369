/*
 * A server in memory that says what a test scripts.
 *
 * const server = scriptedServer([{ text: 'Hello.' }, { tool: 'refund', arguments: { order: 7 }, next: { text: 'Done.' } }])
 * const troupe = new Troupe({ baseUrl: 'http://test', key: 'test', fetch: server.fetch })
 */
export type { ScriptedServer } from './scripted-server.ts'
export { scriptedServer } from './scripted-server.ts'
export type { Script } from './scripted-session.ts'
