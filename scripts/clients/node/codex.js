import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Codex CLI, the agent for the terminal, with this server's Responses API instead of OpenAI's
const home = join(process.cwd(), 'home')
const work = join(process.cwd(), 'work')
for (const folder of [home, work]) mkdirSync(folder)
writeFileSync(
  join(home, 'config.toml'),
  `model = "simulated-1"
model_provider = "troupe"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[model_providers.troupe]
name = "Troupe"
base_url = "${process.env.TROUPE_URL}/v1"
env_key = "TROUPE_KEY"
wire_api = "responses"
`,
)
const codex = join(process.cwd(), 'node_modules/.bin/codex')
const ask = (prompt) => {
  const args = ['exec', '--skip-git-repo-check', '--json', prompt]
  const env = { ...process.env, CODEX_HOME: home }
  const { stdout, stderr } = spawnSync(codex, args, { cwd: work, env, input: '', encoding: 'utf8', timeout: 90_000 })
  const events = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  if (events.at(-1)?.type !== 'turn.completed') throw new Error(`the turn did not complete: ${stdout}${stderr}`)
  return events.flatMap(({ type, item }) => (type === 'item.completed' ? [item] : []))
}
const check = (holds, what) => {
  if (!holds) throw new Error(what)
}

check(ask('Say hello').at(-1)?.text === 'You said: Say hello', 'Codex shows another answer')
const items = ask('use exec_command with cmd: "echo hi-from-codex"')
const command = items.find(({ type }) => type === 'command_execution')
check(command?.aggregated_output.includes('hi-from-codex'), 'Codex did not run its tool')
check(items.at(-1)?.text.includes('hi-from-codex'), 'the second turn has no result of the tool')
