import { optionValues, type Program, type ProgramCall, wholeText } from '../program-call.ts'
import { nothing } from '../value.ts'

/** Images of tools that need the machine, as their documentation says. */
export const needsHost =
  /\b(?:tonistiigi\/binfmt|multiarch\/qemu-user-static|docker:[\w.-]{0,20}dind|kindest\/node|rancher\/k3s|portainer\/portainer|containrrr\/watchtower|traefik|wagoodman\/dive|aquasec\/trivy|hadolint|nektos\/act|localstack\/localstack|testcontainers\/ryuk|lazydocker|cadvisor|node-exporter|jwilder\/nginx-proxy|gitlab\/gitlab-runner|moby\/buildkit|anchore\/(?:syft|grype)|docker\/docker-bench-security|falcosecurity\/falco)/iu
const rootFolders = /^(?:\/|\/(?:etc|root|home|var|usr|proc|sys|boot|dev)\/?|~\/?|\$HOME\/?)$/u
const secretFolders = /(?:^|\/)\.(?:ssh|aws|kube|gnupg|config\/gcloud|docker)\/?$/u

/** Containers that are given the machine on which they run. */
export const containers: Program = (call) => {
  const { name, args, world } = call
  if (name === 'nsenter' && /-t\s?1\b|--target[= ]1\b/u.test(wholeText(args)))
    world.report({ code: 'host_access', message: 'A command enters the machine from a container.' })
  if (name === 'chroot' && /^\/(?:host|mnt|rootfs)/u.test(args[0]?.text ?? ''))
    world.report({ code: 'host_access', message: 'A command enters the machine from a container.' })
  if (name === 'kubectl') return cluster(call)
  if (!/^(?:docker|podman|nerdctl)$/u.test(name)) return undefined
  if (args.some(({ text }) => /^(?:run|create|exec)$/u.test(text))) started(call)
  return nothing
}

const started = ({ args, world }: ProgramCall): void => {
  const text = wholeText(args)
  const severity = needsHost.test(text) ? 'warning' : 'blocker'
  const open = (message: string, isMild = false): void =>
    world.report({ code: 'host_access', severity: isMild ? 'warning' : severity, message })
  if (/--privileged\b(?!=false)/u.test(text)) open('The container may do everything on its machine.')
  else if (/--cap-add[= ](?:ALL|SYS_ADMIN|SYS_MODULE|SYS_PTRACE|DAC_READ_SEARCH)\b/iu.test(text))
    open('The container gets rights over its machine.')
  else if (/--security-opt[= ]\S{0,20}unconfined/iu.test(text) && /--pid[= ]host|--cap-add/u.test(text))
    open('The container is not confined.')
  for (const { text: mount } of optionValues(args, ['-v', '--volume', '--mount'])) {
    const source = /(?:source|src)=([^,]{1,400})/u.exec(mount)?.[1] ?? mount.split(':')[0] ?? ''
    if (rootFolders.test(source))
      open(`The container gets the folder ${source} of its machine.`, isInspection(source, mount))
    else if (secretFolders.test(source) && !/:ro\b|readonly/u.test(mount))
      open(`The container gets the secrets in ${source}.`)
    else if (source.endsWith('docker.sock')) open('The container controls all containers of its machine.')
  }
}

/** Whether a container may only read what the machine says of itself. */
const isInspection = (source: string, mount: string): boolean =>
  /^\/(?:proc|sys|dev|var)\/?$/u.test(source) && /:ro\b|readonly/u.test(mount)

const cluster = ({ args, world }: ProgramCall): undefined => {
  const text = wholeText(args)
  if (/clusterrolebinding\b[^\n]{0,200}cluster-admin/u.test(text))
    world.report({ code: 'weakens_security', message: 'An account gets all rights over a cluster.' })
  if (
    /\bdelete\b[^\n]{0,120}(?:--all\b[^\n]{0,60}(?:--all-namespaces|-A\b)|(?:namespaces?|ns|pv|crd)\s{1,4}--all\b)/u.test(
      text,
    )
  )
    world.report({ code: 'destructive_command', message: 'The command destroys data that is not its own.' })
  if (
    /"(?:privileged|hostPID)"\s{0,2}:\s{0,2}true|"hostPath"\s{0,2}:\s{0,2}\{\s{0,2}"path"\s{0,2}:\s{0,2}"\/"/u.test(
      text,
    )
  )
    world.report({ code: 'host_access', message: 'The container gets the machine on which it runs.' })
  return undefined
}
