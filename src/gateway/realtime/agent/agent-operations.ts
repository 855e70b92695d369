import type { EventStream } from '#runtime/index.ts'
import type { JsonObject } from '#storage/index.ts'

/**
 * The operations of sessions that a realtime session of an agent is made of, each with the credential of the socket and
 * all checks of a request.
 */
export interface AgentOperations {
  /** Creates a session. @returns its id. @throws {ServiceError} */
  create(body: JsonObject): Promise<string>
  /** Id of the agent, sequence of the newest event, and cost in USD, of a session. @throws {ServiceError} `not_found` */
  find(
    sessionId: string,
  ): Promise<{ readonly agentId: string | null; readonly newest: number; readonly costUsd: number }>
  /** What a session has cost so far, in USD. @throws {ServiceError} */
  cost(sessionId: string): Promise<number>
  /** @throws {ServiceError} */
  turn(sessionId: string, body: JsonObject): Promise<void>
  approve(sessionId: string, body: JsonObject): Promise<void>
  reject(sessionId: string, body: JsonObject): Promise<void>
  cancel(sessionId: string): Promise<void>
  /** Events with a sequence after `after`, then live ones. */
  follow(sessionId: string, after: number): EventStream
}
