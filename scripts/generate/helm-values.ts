import { settingDefinitions, type SettingDefinition } from '../../src/config/settings.js';

/** What the chart sets itself. */
const FIXED: ReadonlySet<string> = new Set(['HOST', 'PORT', 'DATA_DIR']);

/** `values.schema.json` of the chart: Helm refuses unknown settings, wrong values, and secrets outside of a Secret. */
export function helmValues(): string {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const port = { type: 'integer', minimum: 1, maximum: 65535 };
  const list = { type: 'array' };
  const some = { type: 'object' };
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...only({
      global: some,
      image: only({ repository: text, tag: text, pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] } }),
      imagePullSecrets: list,
      settings: only(Object.fromEntries(shownSettings().map(([name, setting]) => [name, valueOf(name, setting)]))),
      secretSettings: text,
      persistence: only({ size: text, storageClass: text, existingClaim: text }),
      extraVolumes: list,
      extraVolumeMounts: list,
      maintenance: flag,
      service: only({ type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }, port, grpcPort: port }),
      ingress: only({ enabled: flag, className: text, annotations: some, host: text, tlsSecret: text }),
      resources: some,
      terminationGracePeriodSeconds: { type: 'integer', minimum: 10 },
      prometheus: only({ annotations: flag, serviceMonitor: flag }),
      serviceAccountName: text,
      podAnnotations: some,
      nodeSelector: some,
      tolerations: list,
      affinity: some,
    }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function only(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', additionalProperties: false, properties };
}

function shownSettings() {
  return settingDefinitions.filter(([name, { secret }]) => secret !== true && !FIXED.has(name));
}

function valueOf(name: string, setting: SettingDefinition): object {
  const { type, minimum, maximum, enum: values, description }: Readonly<Record<string, unknown>> = setting;
  if (name === 'OTLP_GRPC_PORT') return { enum: [4317, '4317'], description };
  if (values !== undefined) return { enum: values, description };
  if (type === 'integer') return { type, minimum, maximum, description };
  // YAML reads some texts as something else, such as TRUSTED_PROXIES: 1.
  return { type: ['string', 'integer', 'boolean'], description };
}
