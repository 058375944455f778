{{- define "spanhouse.name" -}}
{{- if contains "spanhouse" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-spanhouse" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "spanhouse.selector" -}}
app.kubernetes.io/name: spanhouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "spanhouse.labels" -}}
{{ include "spanhouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "spanhouse.hasGrpc" -}}
{{- if .Values.settings.OTLP_GRPC_PORT }}true{{ end }}
{{- end }}
