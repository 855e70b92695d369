import { ratePlans as declaration } from '#specs/resources/rate-plans.ts'
import { plainResource } from '../capability/plain-resource.ts'
import { ratePlans as kind } from './kinds.ts'

/** What tenants are charged by. Plans are made and listed, never changed. */
export const ratePlans = plainResource({
  name: 'rate_plans',
  declaration,
  kind,
  idPrefix: 'rp',
  key: 'rate_plan_id',
  noun: 'rate_plan',
  data: (body) => ({ ...body, description: body.description ?? null }),
})
