import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { Audited } from '#records/audited.ts'
import { timestampOf } from '#records/row-times.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import { piiTypes, redactionTargets } from '#specs/resources/gateway/redaction.ts'
import type { RedactionPolicyData } from './kinds.ts'
import { isPhoneRegion } from './recognisers/checks.ts'
import type { ChosenPolicy, RedactionPolicies } from './redaction-policies.ts'

/** Use-cases that read and change the redaction policy of a project. */
export const redactionPolicyUseCases = (policies: RedactionPolicies): UseCasesOf<'redaction_policy'> => ({
  'redaction_policy.get': async ({ scope }) => view(await policies.chosen(scope.project)),
  'redaction_policy.update': async (call) => {
    const { scope, body } = call
    check(body)
    const edit = (data: RedactionPolicyData) => ({ ...data, ...body, ...targetsOf(body) })
    const row = await policies.change(scope.project, edit, new Audited(call, 'redaction_policy').changed())
    return view({ row, policy: row.data })
  },
})

type Change = BodyOf<'redaction_policy.update'>

const check = ({ apply_to, phone_region }: Change): void => {
  if (apply_to !== undefined && !apply_to.includes('logs'))
    throw new ServiceError('invalid_field', { param: 'apply_to', message: 'Logs are always redacted: include logs.' })
  if (phone_region !== undefined && !isPhoneRegion(phone_region))
    throw new ServiceError('invalid_field', { param: 'phone_region', message: 'This is not a country code.' })
}

/** Removes duplicates and puts the values into the order of their declaration. */
const targetsOf = ({ apply_to, types }: Change): Partial<RedactionPolicyData> => ({
  ...(apply_to !== undefined && { apply_to: redactionTargets.filter((each) => apply_to.includes(each)) }),
  ...(types !== undefined && { types: piiTypes.filter((each) => types.includes(each)) }),
})

const view = ({ row, policy }: ChosenPolicy): ResultOf<'redaction_policy.get'> => {
  const { targets_apart: _stored, ...shown } = policy
  return { ...shown, updated_at: row === null ? null : timestampOf(row.updated_at) }
}
