import { permissions, secretKeyOnly } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { array, defaulted, integer, object, oneOf, optional, string, timestamp } from '../schema.ts'

const reference = string({ minLength: 1, maxLength: 256 })

/** Browser-safe tokens of one end user, at most 15 minutes long (interface "Authentication"). */
export const clientTokens = defineOperations('client_tokens', {
  create: {
    summary: 'Mint a client token',
    method: 'POST',
    path: '/v1/client-tokens',
    access: secretKeyOnly,
    body: object({
      tenant_id: reference,
      external_user_id: reference,
      installation_ids: optional(array(reference, { maxItems: 100 })),
      permissions: defaulted(array(oneOf(...permissions)), ['sessions:turn']),
      expires_in: defaulted(integer({ min: 1, max: 900, clamp: 'max' }), 900),
      session_id: optional(reference),
    }),
    answer: answersJson(object({ token: string(), expires_at: timestamp() }), { status: 201, secret: true }),
    errors: ['not_found'],
  },
})
