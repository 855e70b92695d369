/*
 * A client of a Troupe server, for pages and servers.
 *
 * const troupe = new Troupe({ baseUrl, token: () => fetch('/token').then((response) => response.json()) })
 * const session = troupe.sessions.open()
 * session.subscribe(() => render(session.getSnapshot()))
 * await session.send('Hello')
 */
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
} from './error-classes.ts'
export { TroupeError } from './errors.ts'
export type { RequiredConnection, RequiredInput, SessionEvent, TurnError, TurnUsage, UrlCitation } from './events.ts'
export type { Connection, Transport } from './follow.ts'
export type { PageFunction, PageTools } from './functions.ts'
export { pageFunctions } from './functions.ts'
export type {
  CitationPart,
  ImagePart,
  InputImage,
  InputText,
  Message,
  MessagePart,
  PendingAction,
  ReasoningPart,
  Run,
  TextPart,
  ToolPart,
  Turn,
  TurnInput,
} from './messages.ts'
export { textOf } from './messages.ts'
export type { Decision, SessionOptions, SessionState, TurnOptions } from './session.ts'
export { Session } from './session.ts'
export { webSocket } from './socket.ts'
export { sharedTabs } from './tabs.ts'
export type { HeaderFields, Query, RequestOptions, TroupeOptions } from './troupe.ts'
export { Troupe } from './troupe.ts'
