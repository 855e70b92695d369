import { permissions, secretKeyOnly } from '#specs/access.ts'
import { answersEvents, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperation, defineOperations } from '#specs/dsl/declare.ts'
import { array, constant, defaulted, described, integer, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'
import { realtimeConfig, realtimeEvents, realtimeFrames } from '#specs/events/realtime-events.ts'

const reference = string({ minLength: 1, maxLength: 256 })

/** Ephemeral secrets for sessions of the Realtime API. */
export const realtimeSecrets = defineOperations('realtime_secrets', {
  create: {
    summary: 'Create an ephemeral secret for realtime sessions',
    description:
      'A secret (`ek_…`) is safe to use in a browser: it opens realtime sessions and nothing else. It acts for the end user that is given, or for the key that creates it, with which it ends. Its sessions begin with the given configuration. `session.model` binds it to a model or an agent; an agent requires an end user.',
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    access: secretKeyOnly,
    envelope: 'openai',
    unknownFields: 'ignore',
    body: object({
      expires_after: described(
        optional(
          object({
            anchor: optional(constant('created_at')),
            seconds: described(defaulted(integer({ min: 10, max: 7_200 }), 600), 'Default: 600.'),
          }),
        ),
        'When the secret expires. A session that is open then continues.',
      ),
      session: described(optional(realtimeConfig), 'Configuration with which sessions begin.'),
      tenant_id: described(optional(reference), 'Tenant of the end user that the secret acts for.'),
      external_user_id: described(optional(reference), 'Your own id of the end user. Required with `tenant_id`.'),
      installation_id: described(optional(reference), 'Installation of the tenant whose agent the secret reaches.'),
      permissions: described(
        optional(array(oneOf(...permissions))),
        'What the secret may do in sessions of agents, as for a client token. Default: `sessions:turn` and `sessions:tools`.',
      ),
      budget_usd: described(
        optional(string({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$' })),
        'What responses in sessions with the secret may cost together, in USD. A response that has begun is completed.',
      ),
    }),
    answer: isJsonResponse(
      object(
        {
          value: string({ description: 'The secret.' }),
          expires_at: integer({ description: 'Seconds since the epoch.' }),
          session: object({ type: constant('realtime'), object: constant('realtime.session') }, { open: true }),
        },
        { title: 'RealtimeSecret' },
      ),
      { secret: true },
    ),
    errors: ['not_found', 'insufficient_scope'],
  },
})

/** The WebSocket of a realtime session. */
export const realtimeSocket = defineOperation('realtime.connect', {
  summary: 'Open a realtime session over WebSocket',
  description:
    "OpenAI's Realtime API. `model` names a model or an agent (`agt_…`). Sessions of models whose providers have realtime are passed on to them. For other models, and for agents, the server transcribes and speaks with its own models. Public keys and client tokens reach agents only. A browser sends its key as the subprotocol `openai-insecure-api-key.<key>` beside `realtime`.",
  method: 'GET',
  path: '/v1/realtime',
  access: { kinds: ['secret_key', 'agent_key', 'client_token'], publicKeys: true, permissions: ['sessions:turn'] },
  envelope: 'openai',
  unknownFields: 'ignore',
  attributed: true,
  query: {
    model: described(
      optional(string({ minLength: 1, maxLength: 256 })),
      'Model or agent. Optional with a secret that is bound to one.',
    ),
    session_id: described(optional(reference), 'Session of the agent that is continued. Default: a new one.'),
  },
  answer: answersEvents(realtimeEvents, { title: 'RealtimeServerEvent', foreign: true }),
  frames: realtimeFrames,
  errors: [...modelCallErrors, 'insufficient_scope', 'secret_key_required', 'overloaded'],
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly realtimeSecrets: typeof realtimeSecrets
  }
}
