/*
 * A client of a Troupe server, for pages and servers.
 *
 * const troupe = new Troupe({ baseUrl, token: () => fetch('/token').then((response) => response.json()) })
 * const session = troupe.sessions.open()
 * session.subscribe(() => render(session.getSnapshot()))
 * await session.send('Hello')
 */
export type {
  Message,
  MessagePart,
  PendingApproval,
  Run,
  TextPart,
  ToolPart,
  Turn,
} from './conversation.ts'
export { textOf } from './conversation.ts'
export type { ClientToken, CredentialOptions } from './credential.ts'
export {
  ApiError,
  AuthenticationError,
  BillingError,
  ConnectionError,
  InvalidRequestError,
  PermissionError,
  ProviderError,
  RateLimitError,
  TroupeError,
} from './errors.ts'
export type { RequiredConnection, RequiredInput, SessionEvent, TurnError, TurnUsage, UrlCitation } from './events.ts'
export type { Connection } from './follow.ts'
export type { PageFunction, PageFunctions } from './functions.ts'
export type { Decision, SessionOptions, SessionState, TurnOptions } from './session.ts'
export { Session } from './session.ts'
export type { Query, RequestOptions, TroupeOptions } from './troupe.ts'
export { Troupe } from './troupe.ts'
