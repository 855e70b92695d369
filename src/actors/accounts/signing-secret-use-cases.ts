import { organizationScope } from '#storage/index.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { Audited } from '../records/audited.ts'
import { timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { rotatedSecrets } from '../records/sealing/rotated-secrets.ts'
import { Table } from '../records/table.ts'
import { type ProjectData, projects, signingAad, signingOf } from './kinds.ts'
import type { ProjectDirectory } from './project-directory.ts'

export interface SigningSecretDeps extends Pick<Services, 'box' | 'now' | 'records'> {
  readonly projects: Pick<ProjectDirectory, 'forget'>
}

/**
 * Use-cases of the secret that signs requests to a project's http tools. Admins can read it. After a rotation the old
 * secrets also sign, each during its own grace period.
 */
export const signingSecretUseCases = ({
  records,
  box,
  projects: directory,
  now,
}: SigningSecretDeps): UseCasesOf<'project_signing_secret'> => {
  const table = new Table(records, projects, now)
  const view = ({ id, data }: Row<ProjectData>) => {
    const until = data.previous_signing_until_ms ?? null
    return {
      signing_secret: box.open(data.signing_secret, signingAad(id)),
      previous_valid_until: timestampOrNull(until !== null && until > now() ? until : null),
    }
  }
  return {
    'project_signing_secret.get': async ({ principal, params }) =>
      view(found(await table.get(organizationScope(memberOf(principal).organization), params.project_id))),
    'project_signing_secret.rotate': async (call) => {
      const { principal, params, body } = call
      const cause = call.idempotency?.cause ?? null
      const untilMs = now() + body.grace_s * 1000
      const edit = ({ id, data }: Row<ProjectData>): ProjectData => {
        const made = rotatedSecrets(signingOf(data), untilMs, { box, aad: signingAad(id), now: now() })
        // of a request that is repeated after a crash, the tools have still the secrets before
        const isAgain = cause !== null && data.signing_rotated_by === cause
        const previous = { previous_signing_secret: made.previous, previous_signing_until_ms: made.untilMs }
        return { ...data, ...(!isAgain && previous), signing_secret: made.secret, signing_rotated_by: cause }
      }
      const notices = ({ id }: Row<ProjectData>) => [
        new Audited(call, 'project', id).line('signing_secret_rotated', id),
      ]
      const scope = organizationScope(memberOf(principal).organization)
      const row = found(await table.change(scope, params.project_id, { edit, notices }))
      directory.forget(row.id)
      return view(row)
    },
  }
}

const found = <T>(row: T | null | undefined): T => orNotFound(row, 'project_id')
