describe('a file with good tests', () => {
  it('passes', () => undefined);
  it('passes too', () => undefined);
});
