import type { SkillFile, SkillFinding } from './finding.ts'

const kib = 1024

/** Maximum length of a text that is scanned; a longer one is a blocker. */
export const maxScannedCharacters = 1024 * kib

const longText = 100 * kib
const archives = /\.(?:zip|tar|t?gz|tgz|bz2|xz|7z|rar|jar|war|whl|egg|iso|dmg|cab|deb|rpm|apk|crx|vsix|asar)$/iu
const programs = /\.(?:exe|dll|so|dylib|bin|com|scr|msi|bat|cmd|vbs|vbe|hta|lnk|pif|jse|wsf|cpl|node|class)$/iu
const known =
  /\.(?:png|jpe?g|gif|webp|ico|svg|ttf|otf|woff2?|pdf|docx|xlsx|pptx|mp3|mp4|wav|avif|sqlite|db|parquet|npy)$/iu
const doubled = /\.(?:pdf|docx?|xlsx?|png|jpe?g|txt|md)\.(?:exe|js|vbs|sh|bat|cmd|scr|py|ps1)$/iu
const unseen = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u

const magic: readonly (readonly [code: 'nested_archive' | 'binary_executable', bytes: readonly number[]])[] = [
  ['nested_archive', [0x50, 0x4b, 0x03, 0x04]],
  ['nested_archive', [0x1f, 0x8b]],
  ['nested_archive', [0x42, 0x5a, 0x68]],
  ['nested_archive', [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['nested_archive', [0x37, 0x7a, 0xbc, 0xaf]],
  ['nested_archive', [0x52, 0x61, 0x72, 0x21]],
  ['binary_executable', [0x7f, 0x45, 0x4c, 0x46]],
  ['binary_executable', [0x4d, 0x5a]],
  ['binary_executable', [0xcf, 0xfa, 0xed, 0xfe]],
  ['binary_executable', [0xfe, 0xed, 0xfa, 0xcf]],
  ['binary_executable', [0xca, 0xfe, 0xba, 0xbe]],
  ['binary_executable', [0x00, 0x61, 0x73, 0x6d]],
]

const office = /\.(?:docx|xlsx|pptx|odt|ods|odp|epub)$/iu

const messages = {
  nested_archive: 'The file is an archive, whose contents were not scanned.',
  binary_executable: 'The file is a program, whose contents cannot be read.',
} as const

/** Returns findings on a file's name, size and first bytes. */
export const fileFindings = (file: SkillFile): readonly SkillFinding[] => {
  const finding = (severity: SkillFinding['severity'], code: string, message: string): SkillFinding => ({
    ...{ severity, code, path: file.path, line: 1, message },
  })
  const kind = office.test(file.path) ? undefined : kindOf(file)
  return [
    ...(kind === undefined ? [] : [finding('blocker', kind, messages[kind])]),
    ...(kind === undefined && file.text === null && !known.test(file.path)
      ? [finding('warning', 'binary_file', 'The file is no text; its contents were not scanned.')]
      : []),
    ...(doubled.test(file.path) || unseen.test(file.path)
      ? [finding('blocker', 'deceptive_name', 'The name of the file shows another kind than it is.')]
      : []),
    ...(file.text !== null && file.text.length > maxScannedCharacters
      ? [
          finding(
            'blocker',
            'too_large',
            `The text is longer than ${maxScannedCharacters} characters and was not scanned.`,
          ),
        ]
      : []),
    ...(file.text !== null && file.text.length > longText && file.text.length <= maxScannedCharacters
      ? [finding('warning', 'large', 'The text is long; few readers will have seen all of it.')]
      : []),
    ...(/(?:^|\/)\.env(?:\.[\w.-]+)?$/u.test(file.path) && !/example|sample|template/iu.test(file.path)
      ? [finding('warning', 'secret_file', 'The file is one that usually holds secrets.')]
      : []),
  ]
}

const kindOf = ({ path, head }: SkillFile): keyof typeof messages | undefined => {
  const byBytes = magic.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte))
  if (byBytes !== undefined) return byBytes[0]
  if (archives.test(path)) return 'nested_archive'
  return programs.test(path) && !/\.(?:bat|cmd|vbs|node|bin|com)$/iu.test(path) ? 'binary_executable' : undefined
}
