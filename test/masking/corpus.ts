import type { RuleType } from '../../src/features/masking/rule.js';

/** Values that are to be found, by the type of the rule: each stands in a sentence and in JSON. */
export const VALUES: Readonly<Partial<Record<RuleType, readonly string[]>>> = {
  email: [
    ...['anna@example.com', 'Anna.Smith+news@mail.example.co.uk', 'o’brien'.replace('’', "'") + '@example.ie'],
    ...['müller@bücher.example', 'a@b.io', 'user_name@sub-domain.example.org', 'info@xn--bcher-kva.example'],
    ...['x.y.z@university.edu', 'ANNA@EXAMPLE.COM', '42@numbers.dev', 'first-last@company.travel', 'a%b@relay.example.net'],
  ],
  phone: [
    ...['+1 415 555 2671', '+14155552671', '(415) 555-2671', '415-555-2671', '415.555.2671', '1-415-555-2671'],
    ...['+44 20 7946 0018', '+447911123456', '+49 30 901820', '+49 (0)30 901820', '+49 171 1234567', '+33 1 42 68 53 00'],
    ...['+33612345678', '+39 06 6982', '+34 612 345 678', '+31 20 624 1111', '+41 44 668 18 00', '+43 1 58858 0'],
    ...['+48 22 694 60 00', '+420 224 371 111', '+46 8 508 290 00', '+47 22 86 24 00', '+45 33 66 33 66', '+358 9 310 1641'],
    ...['+351 21 322 7000', '+30 21 0322 8410', '+353 1 222 2222', '+32 2 279 22 11', '+91 22 2262 0111', '+81 3-5321-1111'],
    ...['+82 2-120-1234', '+86 10 6512 9114', '+61 2 9265 9333', '+64 9 301 0101', '+55 11 3113-9000', '+52 55 5345 8000'],
    ...['+27 21 400 1111', '+234 803 123 4567', '+20 2 2391 5000', '+971 4 221 5555', '+972 3-521-8666', '+90 212 455 14 00'],
  ],
  card: [
    ...['4111111111111111', '4111 1111 1111 1111', '4111-1111-1111-1111', '4012888888881881', '5555555555554444'],
    ...['5105 1051 0510 5100', '2223003122003222', '378282246310005', '3782 822463 10005', '371449635398431'],
    ...['6011111111111117', '6011 0009 9013 9424', '3530111333300000', '3566002020360505', '30569309025904', '3852 000002 3237'],
    ...['6200000000000005', '6759649826438453'],
  ],
  iban: [
    ...['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00', 'GB29NWBK60161331926819', 'GB29 NWBK 6016 1331 9268 19'],
    ...['FR1420041010050500013M02606', 'FR14 2004 1010 0505 0001 3M02 606', 'ES9121000418450200051332', 'IT60X0542811101000000123456'],
    ...['NL91ABNA0417164300', 'BE68539007547034', 'AT611904300234573201', 'CH9300762011623852957', 'PL61109010140000071219812874'],
    ...['SE4550000000058398257466', 'NO9386011117947', 'DK5000400440116243', 'FI2112345600000785', 'PT50000201231234567890154'],
    ...['IE29AIBK93115212345678', 'TR330006100519786457841326', 'SA0380000000608010167519', 'AE070331234567890123456', 'de89370400440532013000'],
  ],
  api_key: [
    ...[`sk-${'aB3d'.repeat(12)}`, `sk-proj-${'aB3_d-'.repeat(20)}`, `sk-ant-api03-${'xY9z'.repeat(22)}AA`, `sk-or-v1-${'0a1b'.repeat(16)}`],
    ...[`sk-lf-${'1234abcd-'.repeat(3)}ab`, `lsv2_pt_${'0a1b'.repeat(8)}_${'abcd0'.repeat(2)}`, `sk_sh_${'aB3d'.repeat(8)}`],
    ...[`AIza${'Sy1_x'.repeat(7)}`, `ya29.${'a0Af_'.repeat(8)}`, `gsk_${'aB3d'.repeat(13)}`, `xai-${'aB3d'.repeat(20)}`, `hf_${'abCD'.repeat(8)}xy`],
    ...['AKIAIOSFODNN7EXAMPLE', 'ASIAY34FZKBOKMUTVV7A', `ghp_${'aB3d'.repeat(9)}`, `github_pat_${'11AAB_'.repeat(12)}`, `glpat-${'aB3-_'.repeat(4)}`],
    ...[`npm_${'aB3d'.repeat(9)}`, `pypi-AgEIcHlwaS5vcmc${'aB3d'.repeat(10)}`, `xoxb-${'123456789012-'.repeat(2)}AbCdEf`, `sk_live_${'aB3d'.repeat(6)}`],
    ...[`rk_test_${'aB3d'.repeat(6)}`, `whsec_${'aB3d'.repeat(8)}`, `SG.${'aB3d'.repeat(5)}.${'aB3d'.repeat(10)}`, `shpat_${'0a1b'.repeat(8)}`],
    ...[`dop_v1_${'0a1b'.repeat(16)}`, `lin_api_${'aB3d'.repeat(10)}`, `dapi${'0a1b'.repeat(8)}`, `r8_${'aB3d'.repeat(9)}x`, `pplx-${'0a1b'.repeat(12)}`],
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'aB3d_-'.repeat(7)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${'MIIE'.repeat(16)}\n-----END RSA PRIVATE KEY-----`,
  ],
};

/** What no rule is to find. */
export const HARMLESS: readonly string[] = [
  // Ids and hashes
  ...['0197f3c2-7a4e-7b1c-9d2e-1a2b3c4d5e6f', '12345678-1234-1234-1234-123456789012', 'd41d8cd98f00b204e9800998ecf8427e'],
  ...['da39a3ee5e6b4b0d3255bfef95601890afd80709', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ...['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7', 'chatcmpl-9aB3dE5fG7hI9jK1lM3n', 'call_abc123DEF456ghi789', 'msg_01XFDUDYJgAACzvnptvVoYEL'],
  ...['toolu_01A09q90qw90lq917835lq9', 'run-5f2b7c', 'req_0123456789abcdef', 'thread_2tXyZ', 'asst_abc', 'file-abc123', 'batch_123'],
  // Times and dates
  ...['1769853600', '1769853600000', '1769853600000000', '1769853600000000000', '2026-01-31T10:00:00.000000Z', '2026-01-31 10:00:00'],
  ...['31.01.2026', '01/31/2026', '2026-01-31', '10:15:30.123', '20260131T100000Z', '20260131100000', 'Sat, 31 Jan 2026 10:00:00 +0100'],
  // Versions and numbers
  ...['1.2.3', '10.15.7', 'v24.1.0-rc.1', '3.141592653589793', '0.0000123456789012', '1,234,567.89', '-122.4194155', '37.7749295', '1e10'],
  ...['12345678', '1234567890', '4111111111111112', '1234 5678 9012 3456', '4242-4242-4242-4242-4242', '0000000000000000', '99999999999999'],
  ...['192.168.10.125', '10.0.0.1:8080', '2001:0db8:85a3:0000:0000:8a2e:0370:7334', '00:1A:2B:3C:4D:5E', '555-2671', '100 200 300 400'],
  // Orders and names
  ...['order 20261234567890', 'ORD-2026-000123', 'INV-20260131-0001', 'SKU 4006381333931', 'ISBN 978-3-16-148410-0', 'AB12 3456 7890', 'DE00 1234'],
  ...['GB00NWBK60161331926819', 'DE88370400440532013000', 'tracking 1Z999AA10123456784', 'RFC 9535', 'ISO 13616-1:2020', 'page 12 of 345', '#1234567'],
  // Words with an @
  ...['@anna', 'lodash@4.17.21', '@scope/package@1.0.0', 'icon@2x.png', 'user@localhost', 'a @ b', '@media (max-width: 600px)', 'name@', '@example.com'],
  ...['image@sha256:e3b0c44298fc1c149afbf4c8996fb924', 'f(x)@y', 'pytest.mark@parametrize', 'node@22', 'foo@bar'],
  // Names that only look like keys
  ...['sk-learn', 'sk-', 'task-123', 'risk-management-and-compliance-department', 'hf_hub', 'ghp_short', 'AKIA', 'AIza', 'eyJ.eyJ.x', 'desk-lamp'],
  ...['gpt-4o-2024-08-06', 'claude-3-5-sonnet-20241022', 'text-embedding-3-small', 'anthropic.claude-3-haiku-20240307-v1:0', 'sk-SK', 'xoxo'],
  ...['-----BEGIN CERTIFICATE-----', 'http://localhost:3000/v1/traces?limit=100&offset=200', 'https://example.com/a/b?c=1234567890123456'],
  ...['0.1', '1234', 'température 25 °C', '价格 1234 元', 'SELECT * FROM t WHERE id = 42', 'E = mc²', 'f0c4a9d2', '127.0.0.1', '::1'],
];
