import { developerCommands } from '#scripts/developer-commands.ts'
import { commands } from '#src/start/commands.js'
import type { GeneratedFile } from '../generated-file.ts'

/** Options that the page names, by command of `troupe`; `--help` has all of them. */
const options: Readonly<Record<string, string>> = {
  quickstart: '`--exit` stops it after the turn',
  cluster: '`--nodes 3`',
  prepare: '`--sharded` shards; in a checkout it is `npm run prepare-store`, since npm runs `prepare` itself',
  stuck: '`--retry ID`, `--discard ID`, `--skip ID --event JSON`; `SECRET_KEY` must be a secret key of the project',
  'rebuild-rows': '`--check` writes nothing',
  backup: '`--out FOLDER`',
  export: '`--project ID --out FILE`',
  import: '`--in FILE`',
  credits: '`--organization ID`; `--grant USD` adds to them, `--ungate` lifts the requirement of credits',
  'reset-owner': '`--email ADDRESS`',
}

/** `docs/commands.md`: the commands of `troupe`, and those of developers. */
export const commandsPage = (): GeneratedFile => ({
  path: 'docs/commands.md',
  text: [
    '# Commands',
    '',
    'Made from `src/start/commands.js` and `scripts/developer-commands.ts` by `npm run generate`. Each command shows its options with `--help`, and',
    'refuses an unknown one before anything is done.',
    '',
    '## For operators',
    '',
    '`troupe COMMAND` in the image and the package, `npm run COMMAND -- OPTIONS` in a checkout. The environment of the server applies',
    '([operating.md](operating.md)).',
    '',
    ...tableOf(Object.entries(commands).map(([name, { does }]) => [name, withOptions(name, does)])),
    '',
    '## For developers',
    '',
    '`npm run COMMAND -- OPTIONS` in a checkout ([CONTRIBUTING.md](../CONTRIBUTING.md)).',
    '',
    ...tableOf(Object.entries(developerCommands)),
    '',
  ].join('\n'),
})

const withOptions = (name: string, does: string): string => {
  const named = options[name]
  return named === undefined ? does : `${does}: ${named}`
}

const tableOf = (rows: readonly (readonly string[])[]): readonly string[] => [
  '| command | purpose |',
  '|---|---|',
  ...rows.map(([name, does]) => `| \`${name}\` | ${does} |`),
]
