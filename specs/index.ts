import type { BytesAnswer, ChoiceAnswer, EventsAnswer, JsonAnswer } from './answer.ts'
import type { Operation, Signature } from './declare.ts'
import { actions } from './resources/actions.ts'
import { projectActors, projectSessions } from './resources/actors.ts'
import { agentCatalog } from './resources/agent-catalog.ts'
import { agentKeys } from './resources/agent-keys.ts'
import { agentVersions } from './resources/agent-versions.ts'
import { agents } from './resources/agents.ts'
import { aiChat } from './resources/ai-chat.ts'
import { audit } from './resources/audit.ts'
import { catalogue } from './resources/catalogue.ts'
import { chatCompletions } from './resources/chat-completions.ts'
import { clientTokens } from './resources/client-tokens.ts'
import { customProviders } from './resources/custom-providers.ts'
import { auth, projectKeys, projectMembers, projects } from './resources/dashboard.ts'
import { embeddings } from './resources/embeddings.ts'
import { endUsers } from './resources/end-users.ts'
import { installations } from './resources/installations.ts'
import { credits, limits } from './resources/limits.ts'
import { messages } from './resources/messages.ts'
import { models } from './resources/models.ts'
import { liveActors, nodes } from './resources/nodes.ts'
import { modelSyncs, providerConnections, providerConnectionTests } from './resources/provider-connections.ts'
import { ratePlans } from './resources/rate-plans.ts'
import { redactionPolicy } from './resources/redaction.ts'
import { requestLog, requestLogSettings } from './resources/request-log.ts'
import { responses } from './resources/responses.ts'
import { runs } from './resources/runs.ts'
import { sessions } from './resources/sessions.ts'
import { tenantUsers } from './resources/tenant-users.ts'
import { tenants } from './resources/tenants.ts'
import { usage } from './resources/usage.ts'
import { vision } from './resources/vision.ts'
import { speech, transcriptions } from './resources/voice.ts'
import { webhookDeliveries, webhooks, webhookTests } from './resources/webhooks.ts'

/** Every declared operation by id. A new resource is added here and nowhere else. */
export const operations = {
  ...sessions,
  ...actions,
  ...runs,
  ...agents,
  ...agentKeys,
  ...agentVersions,
  ...agentCatalog,
  ...installations,
  ...tenants,
  ...tenantUsers,
  ...endUsers,
  ...audit,
  ...models,
  ...providerConnections,
  ...providerConnectionTests,
  ...modelSyncs,
  ...customProviders,
  ...catalogue,
  ...aiChat,
  ...responses,
  ...messages,
  ...speech,
  ...transcriptions,
  ...chatCompletions,
  ...embeddings,
  ...clientTokens,
  ...auth,
  ...projects,
  ...projectKeys,
  ...projectMembers,
  ...projectSessions,
  ...projectActors,
  ...nodes,
  ...liveActors,
  ...webhooks,
  ...webhookTests,
  ...webhookDeliveries,
  ...usage,
  ...requestLog,
  ...requestLogSettings,
  ...limits,
  ...credits,
  ...ratePlans,
  ...redactionPolicy,
  ...vision,
} as const

/** Id of a declared operation. */
export type OperationId = keyof typeof operations

type SignatureFor<Id extends OperationId> = (typeof operations)[Id] extends Operation<infer S> ? S : Signature

/** Path parameters of an operation, decoded. */
export type ParamsOf<Id extends OperationId> = SignatureFor<Id>['params']

/** Query of an operation, coerced, with defaults. */
export type QueryOf<Id extends OperationId> = SignatureFor<Id>['query']

/** Body of an operation, validated, with defaults; undefined when it takes none. */
export type BodyOf<Id extends OperationId> = SignatureFor<Id>['body']

/** What the operation answers with, as declared. */
export type AnswerOf<Id extends OperationId> = SignatureFor<Id>['answer']

/** The JSON document that an operation answers; never for streams and bytes. */
export type ResultOf<Id extends OperationId> = JsonOf<AnswerOf<Id>>

type JsonOf<A> = A extends JsonAnswer<infer T> ? T : A extends ChoiceAnswer<infer T> ? T : never

/** Operations whose answer is an SSE stream of log events. */
export type EventsOperationId = {
  [Id in OperationId]: AnswerOf<Id> extends EventsAnswer ? Id : never
}[OperationId]

/** Operations whose answer is bytes. */
export type BytesOperationId = {
  [Id in OperationId]: AnswerOf<Id> extends BytesAnswer ? Id : never
}[OperationId]
