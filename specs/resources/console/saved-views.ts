import { dashboardOnly } from '#specs/access.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { array, boolean, defaulted, described, nullable, optional, record, string } from '#specs/dsl/schema.ts'

const page = string({
  maxLength: 64,
  pattern: '^[a-z_]+(/[a-z_]+)?$',
  description: 'List of the console, such as `list/session`, `gateway` or `audit`.',
})

/** Views of the console's lists. Each belongs to the member who saved it, and to one project. */
export const savedViews = defineResource('saved_views', {
  path: '/api/projects/{project_id}/views',
  key: 'view_id',
  idPrefix: 'viw',
  title: 'SavedView',
  description:
    'A list of the console with its filters, columns and order, saved by a member. No other member can list, change or delete it; its link shows the same list to every member of the project.',
  fields: {
    name: string({ minLength: 1, maxLength: 80 }),
    page,
    filters: described(
      defaulted(record(string({ maxLength: 512 }), { maxProperties: 40 }), {}),
      'Values of the filters, by their names in the address of the page.',
    ),
    columns: described(
      defaulted(array(string({ maxLength: 64 }), { maxItems: 40 }), []),
      'Columns that are shown. If empty, the default ones.',
    ),
    order: described(
      defaulted(nullable(string({ maxLength: 64, pattern: '^-?[A-Za-z0-9_]+$' })), null),
      'Column by which rows are sorted, with `-` before it for descending values. Null: newest first.',
    ),
    is_default: described(
      defaulted(boolean(), false),
      'Whether the page opens with this view. If several views of a page are default views, the newest applies.',
    ),
  },
  writable: ['name', 'page', 'filters', 'columns', 'order', 'is_default'],
  access: { ...dashboardOnly('member'), changes: 'member' },
  operations: {
    list: { query: { page: optional(page) } },
    create: { description: 'The view belongs to the calling member, whose role may be any: it changes no other data.' },
    update: { description: 'Returns 404 for a view that another member saved.' },
    delete: { description: 'The list itself stays. Returns 404 for a view that another member saved.' },
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly savedViews: typeof savedViews
  }
}
