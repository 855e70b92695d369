import { invalidField } from '#specs/errors/invalid-field.ts'
import { ratePlans as declaration } from '#specs/resources/rate-plans.ts'
import { plainResource } from '../capability/plain-resource.ts'
import { ratePlans as kind } from './kinds.ts'

/** Use-cases of rate plans, by which tenants are charged. Plans are created and listed, but never changed. */
export const ratePlans = plainResource({
  declaration,
  kind,
  data: ({ markup_percentage, ...body }) => ({
    ...body,
    description: body.description ?? null,
    markup_percent: markupOf(body.markup_percent, markup_percentage),
  }),
  view: ({ data }) => ({ ...data, markup_percentage: data.markup_percent }),
})

/** The markup by either name. `markup_percent` is `0` when absent. @throws {ServiceError} `invalid_field` for two that differ */
function markupOf(percent: string, percentage: string | undefined): string {
  if (percentage === undefined || percentage === percent) return percent
  if (percent === '0') return percentage
  throw invalidField('markup_percentage', 'markup_percentage differs from markup_percent, of which it is another name.')
}
