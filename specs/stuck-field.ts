import { optional, string } from './dsl/schema.ts'

/** Present while the work of a resource cannot continue until an operator decides. */
export const stuck = optional(
  string({
    description:
      'Why the work cannot continue until an operator decides (`stuck.list`). Absent while it can; the status is the one in which it stopped.',
  }),
)
