import { expect, it } from 'vitest'
import { listIndexes } from '#storage/list-index.ts'
import { foundBy, listMark, listsField } from '#storage/mongo/row-lists.ts'
import type { RecordKind } from '#storage/ports.ts'

const kind: RecordKind = {
  name: 'boats',
  filters: ['color', { fields: ['color', 'sails'], within: 'tenant' }, { fields: ['sails'], within: 'user' }],
}
const field = listsField(kind) ?? 'lists_'

it('a row is in the lists of its own owner and values, whatever rows were written before it', () => {
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 400; n++) {
      const tenant = n % 3 === 0 ? null : `ten_${n % 7}`
      const owned = { project: `prj_${n % 2}`, tenant, user: tenant === null || n % 4 === 0 ? null : `usr_${n % 5}` }
      const data = { color: n % 11 === 0 ? null : `color ${n}`, sails: n % 13 }
      const { keys, ...found } = foundBy(kind, { ...owned, data })
      const lists = listIndexes(kind).filter(
        ({ owner, fields }) => fields.length > 0 && owner.every((column) => owned[column] !== null),
      )
      expect(found).toEqual({ [field]: lists.map((list) => listMark(list, owned, keys)) })
      expect(keys).toEqual({ ...(data.color !== null && { color: `"${data.color}"` }), sails: `${data.sails}` })
    }
  }
})
