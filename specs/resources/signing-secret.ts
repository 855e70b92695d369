import { dashboardOnly } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defaulted, described, integer, nullable, object, string, timestamp } from '../dsl/schema.ts'

const signingSecret = object(
  {
    signing_secret: string({
      description: 'Secret of Standard Webhooks (`whsec_…`) that verifies requests to http tools.',
    }),
    previous_valid_until: described(
      nullable(timestamp()),
      'Time until which the previous secret is valid; null if no rotation is in progress.',
    ),
  },
  { title: 'SigningSecret', description: "The secret with which a project's requests to `http` tools are signed." },
)

const path = '/api/projects/{project_id}/signing-secret'

/** Secret that signs a project's requests to `http` tools. */
export const projectSigningSecret = defineOperations('project_signing_secret', {
  get: {
    summary: 'Retrieve the signing secret of a project',
    description:
      'Requests to `http` tools are signed as Standard Webhooks specifies. A tool verifies the signature with this secret.',
    method: 'GET',
    path,
    access: dashboardOnly('admin'),
    answer: isJsonResponse(signingSecret, { secret: true }),
  },
  rotate: {
    summary: 'Rotate the signing secret of a project',
    description:
      'Returns a new secret. Requests are also signed with the one that it replaces for `grace_s` seconds, as in `webhooks.rotate`.',
    method: 'POST',
    path: `${path}/rotate`,
    access: dashboardOnly('admin'),
    body: object({
      grace_s: described(
        defaulted(integer({ min: 0, max: 604_800 }), 86_400),
        'Seconds for which requests carry both signatures.',
      ),
    }),
    answer: isJsonResponse(signingSecret, { secret: true }),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly projectSigningSecret: typeof projectSigningSecret
  }
}
