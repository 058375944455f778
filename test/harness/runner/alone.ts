describe('a file that runs alone @alone', () => {
  it('passes', () => undefined);
});
