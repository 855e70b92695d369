import { permissions, secretKeyOnly } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { array, defaulted, described, integer, object, oneOf, optional, string, timestamp } from '../dsl/schema.ts'

const reference = string({ minLength: 1, maxLength: 256 })

/** Tokens of one end user, safe to use in a browser, for at most 15 minutes. */
export const clientTokens = defineOperations('client_tokens', {
  create: {
    summary: 'Create a client token',
    description:
      'A client token is safe to use in a browser. It gives access to the sessions of one end user of one tenant, and expires after at most 15 minutes.',
    method: 'POST',
    path: '/v1/client-tokens',
    access: secretKeyOnly,
    body: object({
      tenant_id: described(reference, 'Tenant of the end user.'),
      external_user_id: described(reference, 'Your own id of the end user.'),
      installation_ids: described(
        optional(array(reference, { minItems: 1, maxItems: 100 })),
        'Installations whose agents the token may use. Default: all installations of the tenant.',
      ),
      permissions: described(
        defaulted(array(oneOf(...permissions)), ['sessions:turn']),
        "`sessions:turn` sends and reads turns. `sessions:approve` decides tool calls of the user's sessions whose `approver` is `end_user`. `sessions:tools` runs the `function` tools that the page itself declared, with their complete arguments.",
      ),
      expires_in: described(
        defaulted(integer({ min: 1, max: 900, clamp: 'max' }), 900),
        'Seconds until the token expires. Values above 900 are treated as 900.',
      ),
      session_id: described(optional(reference), 'Session to which the token is restricted.'),
    }),
    answer: isJsonResponse(object({ token: string(), expires_at: timestamp() }), { status: 201, secret: true }),
    errors: ['not_found'],
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly clientTokens: typeof clientTokens
  }
}
