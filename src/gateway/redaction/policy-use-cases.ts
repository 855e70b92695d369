import { settingUseCases } from '#actors/capability/project-setting.ts'
import { timestampOf } from '#records/row-times.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import { piiTypes, redactionTargets } from '#specs/resources/gateway/redaction.ts'
import type { RedactionPolicyData } from './kinds.ts'
import { isPhoneRegion } from './recognisers/checks.ts'
import type { RedactionPolicies } from './redaction-policies.ts'

/** Use-cases that read and change the redaction policy of a project. */
export const redactionPolicyUseCases = (policies: RedactionPolicies) =>
  settingUseCases('redaction_policy', policies.setting, {
    edit: (data, body) => {
      check(body)
      return { ...data, ...body, ...targetsOf(body) }
    },
    view: ({ targets_apart: _stored, ...shown }, updatedAt) => ({
      ...shown,
      updated_at: updatedAt === null ? null : timestampOf(updatedAt),
    }),
    changed: (project) => policies.changed(project),
  })

type Change = BodyOf<'redaction_policy.update'>

const check = ({ apply_to, phone_region }: Change): void => {
  if (apply_to !== undefined && !apply_to.includes('logs'))
    throw invalidField('apply_to', 'Logs are always redacted: include logs.')
  if (phone_region !== undefined && !isPhoneRegion(phone_region))
    throw invalidField('phone_region', 'This is not a country code.')
}

/** Removes duplicates and puts the values into the order of their declaration. */
const targetsOf = ({ apply_to, types }: Change): Partial<RedactionPolicyData> => ({
  ...(apply_to !== undefined && { apply_to: redactionTargets.filter((each) => apply_to.includes(each)) }),
  ...(types !== undefined && { types: piiTypes.filter((each) => types.includes(each)) }),
})
