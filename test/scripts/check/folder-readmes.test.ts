import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { folderReadmeFindings, folderReadmePaths, pictureFindings } from '#scripts/check/folder-readmes.ts'

const root = mkdtempSync(join(tmpdir(), 'readmes-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('pages of folders', () => {
  const path = 'src/storage/README.md'
  const messages = (text: string, imports = '') =>
    folderReadmeFindings([path], [{ path, text }], [{ path: 'src/storage/a.ts', text: imports }]).map(
      ({ message }) => message,
    )

  it('are needed by top folders and by each folder of src and packages', () => {
    for (const folder of ['specs', 'src/storage', 'packages/runtime/lib', 'unknown'])
      mkdirSync(join(root, folder), { recursive: true })
    expect(folderReadmePaths(root)).toEqual([
      'packages/README.md',
      'specs/README.md',
      'src/README.md',
      'src/storage/README.md',
      'packages/runtime/README.md',
    ])
  })

  it('belong to folders that the picture of the architecture shows', () => {
    const messages = (picture: string) =>
      pictureFindings(root, `src/storage\n\`\`\`\n${picture}\n\`\`\``).map(({ message }) => message)
    expect(messages('packages/runtime over src/storage')).toEqual([])
    expect(messages('packages/runtime over src/storage-kit')).toEqual(['the picture leaves out src/storage'])
  })

  it('are missed', () => {
    expect(folderReadmeFindings([path], [], [])).toHaveLength(1)
  })

  it('agree with the layers and with what is imported', () => {
    const imports = "import '../machines/index.ts'\nimport './b.ts'\n"
    expect(messages('May import: `src/machines`.', imports)).toEqual([])
    expect(messages('May import: nothing.', imports)).toEqual(['imports src/machines and does not say so'])
    expect(messages('May import: `specs`.')).toEqual(['may not import specs (scripts/check/layers.ts, front-doors.ts)'])
    expect(messages('May import: `src/transport`.')).toEqual([
      'may not import src/transport (scripts/check/layers.ts, front-doors.ts)',
    ])
    expect(messages('Nothing.')).toEqual(['has no line `May import: …`'])
  })

  it('have at most 16 lines', () => {
    expect(messages(`May import: nothing.${'\nx'.repeat(15)}`)).toEqual([])
    expect(messages(`May import: nothing.${'\nx'.repeat(16)}`)).toEqual(['has more than 16 lines'])
  })
})
